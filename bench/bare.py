"""The limit for an HTTP request: a Flask endpoint that reads a JSON body, answers JSON, and does nothing else."""

from flask import Flask, request

app = Flask(__name__)


@app.post("/")
def answer() -> dict[str, bool]:
    """Answer."""
    return {"accepted": isinstance(request.get_json(), dict)}
