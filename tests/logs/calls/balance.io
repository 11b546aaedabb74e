// The plain case, and one whose numbers a double does not hold.
>> {"jsonrpc":"2.0","id":1,"method":"account_balance","params":["0x7dc","latest"]}
<< {"jsonrpc":"2.0","id":1,"result":"0x0"}
>> {"jsonrpc":"2.0","id":2,"method":"account_total","params":[]}
<< {"jsonrpc":"2.0","id":2,"result":115792089237316195423570985008687907853269984665640564039457584007913129639935}
