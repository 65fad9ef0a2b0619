#!/bin/sh
# A server of next to no weight, for crowds. Each call `{"number": N}` asks for the value of that number, and
# is answered with both. It reads what the tests write: an id before everything else.
while IFS= read -r line; do
  id=${line#*\"id\":}
  id=${id%%[,\}]*}
  case $line in
    *'"method":"initialize"'*)
      echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"numbered","version":"1"}}}'
      ;;
    *'"method":"tools/call"'*)
      number=${line#*\"number\":}
      number=${number%%[!0-9]*}
      echo '{"jsonrpc":"2.0","id":"'"$id-$number"'","method":"elicitation/create","params":{"message":"Number '"$number"'","requestedSchema":{"type":"object","properties":{"value":{"type":"string"}},"required":["value"]}}}'
      ;;
    *'"result":'*'"value":"'*)
      asked=${id#\"}
      asked=${asked%\"}
      value=${line#*\"value\":\"}
      value=${value%%\"*}
      echo '{"jsonrpc":"2.0","id":'"${asked%-*}"',"result":{"content":[{"type":"text","text":"'"${asked##*-} is $value"'"}]}}'
      ;;
  esac
done
