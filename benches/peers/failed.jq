# How often each method fails in a log where no id is used twice: jq -rn -f failed.jq LOG
reduce inputs as $message ({open: {}, failed: {}};
  ($message.id | tojson) as $id
  | if $message.method and $message.id != null then .open[$id] = $message.method
    elif $message.error then .open[$id] as $method | if $method then .failed[$method] += 1 else . end
    else . end)
| .failed | to_entries | sort_by(.key) | .[] | "\(.key)\t\(.value)"
