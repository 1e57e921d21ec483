"""What every room stands on; knows no room itself."""
