# How often each method is in a log: jq -rn -f methods.jq LOG
reduce (inputs | .method // "") as $method ({}; .[$method] += 1)
| to_entries | sort_by(.key) | .[] | "\(.key)\t\(.value)"
