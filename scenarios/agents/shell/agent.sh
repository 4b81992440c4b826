#!/bin/sh
# An agent without a model: curl speaks MCP to the gateway that PASSGRID_MCP_URL names. Its answer goes to stdout.
set -eu

headers=$(mktemp)
trap 'rm -f "$headers"' EXIT

# rpc BODY: sends one message and prints the answer.
rpc() {
  curl --silent --show-error --fail-with-body --max-time 30 --dump-header "$headers" --data "$1" \
    --header "authorization: Bearer $PASSGRID_TOKEN" \
    --header "content-type: application/json" --header "accept: application/json, text/event-stream" \
    ${session:+--header "mcp-session-id: $session"} "$PASSGRID_MCP_URL"
}

# call TOOL ARGUMENTS: calls a tool and prints the text of its answer; ends the agent where that is an error.
call() {
  answer=$(rpc '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"'"$1"'","arguments":'"$2"'}}')
  case $answer in
    *'"isError":false'*) ;;
    *) echo "$1: $answer" >&2; exit 1 ;;
  esac
  printf '%s\n' "$answer" | sed 's/.*"text":"\([^}]*\)"}.*/\1/; s/\\"/"/g'
}

session=
rpc '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"shell","version":"1"}}}' >/dev/null
session=$(sed -n 's/^mcp-session-id: *//Ip' "$headers" | tr -d '\r')
rpc '{"jsonrpc":"2.0","method":"notifications/initialized"}'

case $PASSGRID_TASK in
  *"M8 bolts"*) echo "There are $(call count '{"article":"M8 bolt"}') M8 bolts." ;;
  *"M8 nuts"*)
    missing=$((100 - $(call count '{"article":"M8 nut"}')))
    there=$(call order '{"article":"M8 nut","pieces":'"$missing"'}' | sed 's/.*"there":\([0-9]*\).*/\1/')
    echo "I ordered $missing, so there are $there M8 nuts now."
    ;;
  *) echo "I do not know how to do that." >&2; exit 2 ;;
esac
