# How often each method fails in a log where no id is used twice: jq -rn -f failed.jq LOG
[inputs] as $messages
| ($messages | map(select(.method and .id != null) | {key: (.id | tojson), value: .method}) | from_entries) as $methods
| reduce ($messages[] | select(.error) | $methods[.id | tojson] // empty) as $method ({}; .[$method] += 1)
| to_entries | sort_by(.key) | .[] | "\(.key)\t\(.value)"
