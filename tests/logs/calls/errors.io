>> {"jsonrpc":"2.0","id":"a","method":"account_send","params":[{"to":null,"value":"0x1"}]}
<< {"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"invalid argument 0: \"to\" is missing","data":null}}
>> {"jsonrpc":"2.0","id":"a","method":"account_send","params":[{"to":"0x7dc","value":"0x1"}]}
<< {"jsonrpc":"2.0","id":"a","error":{"code":3,"message":"execution reverted","data":"0x08c379a0"}}
