// reads the chain's id
>> {"jsonrpc":"2.0","id":1,"method":"eth_chainId"}
<< {"jsonrpc":"2.0","id":1,"result":"0x1"}

// both sides count from 1
<< {"jsonrpc":"2.0","id":1,"method":"window/confirm"}
>> {"jsonrpc":"2.0","id":2,"method":"eth_syncing"}
>> {"jsonrpc":"2.0","id":1,"result":true}
>> not json
