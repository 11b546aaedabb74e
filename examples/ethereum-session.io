// A client sent the messages behind >> and received those behind <<, as in the tests of Ethereum nodes.
>> {"jsonrpc":"2.0","id":1,"method":"eth_chainId"}
<< {"jsonrpc":"2.0","id":1,"result":"0x1"}
>> [{"jsonrpc":"2.0","id":2,"method":"eth_blockNumber"},{"jsonrpc":"2.0","id":3,"method":"eth_getBalance","params":["0x7df9a875a174b3bc565e6424a0050ebc1b2d1d82","latest"]}]
<< [{"jsonrpc":"2.0","id":3,"result":"0x1b1ae4d6e2ef5000000"},{"jsonrpc":"2.0","id":2,"result":"0x14f2a3b"}]
>> {"jsonrpc":"2.0","id":4,"method":"eth_call","params":[{"to":"0xaa00000000000000000000000000000000000000","data":"0x01"},"0x14f2a3b"]}
<< {"jsonrpc":"2.0","id":4,"error":{"code":3,"message":"execution reverted: not allowed","data":"0x08c379a0"}}
>> {"jsonrpc":"2.0","id":5,"method":"eth_subscribe","params":["newHeads"]}
<< {"jsonrpc":"2.0","id":5,"result":"0x9cef478923ff08bf67fde6c64013158d"}
<< {"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x9cef478923ff08bf67fde6c64013158d","result":{"number":"0x14f2a3c"}}}
>> {"jsonrpc":"2.0","id":6,"method":"eth_getLogs","params":[{"fromBlock":"0x0"}]}
