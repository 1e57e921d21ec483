"""What the protocol fixes of MCP servers; this package has no adapter for them yet."""

from agent_feedback import protocol_files

from tests.sdk.vectors.cases import Case, read_cases

CONTRACT = protocol_files.read("contract.json")
MCP = CONTRACT["mcp"]


@read_cases("mcp", "mode")
def test_the_tools_of_a_mode_are_those_of_the_contract(case: Case) -> None:
    assert case["expected"] == ([] if case["input"]["mode"] == "off" else MCP["tools"])


@read_cases("mcp", "result")
def test_the_event_of_a_call_is_that_of_the_contract(case: Case) -> None:
    status_code = MCP["statusCode" if case["input"]["result"] == "ok" else "errorStatusCode"]
    event = {"surface": MCP["surface"], "classification": MCP["classification"], "statusCode": status_code}
    assert case["expected"] == event


@read_cases("mcp", "hasOutputSchema")
def test_the_envelope_of_a_result_is_where_the_contract_says(case: Case) -> None:
    kind = "withOutputSchema" if case["input"]["hasOutputSchema"] else "withoutOutputSchema"
    assert case["expected"] == {"place": MCP["envelopeIn"][kind], "reliability": CONTRACT["reliability"]["mcp"]}
