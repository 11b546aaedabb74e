// What a client sent (>>) and received (<<), as the tests of Ethereum nodes are written.
>> {"jsonrpc":"2.0","id":1,"method":"subtract","params":[42,23]}
<< {"jsonrpc":"2.0","id":1,"result":19}
// A batch, answered out of order and without the notification.
>> [{"jsonrpc":"2.0","id":"a","method":"sum","params":[1,2,4]},{"jsonrpc":"2.0","method":"beep"},{"jsonrpc":"2.0","id":"b","method":"divide","params":{"dividend":1,"divisor":0}}]
<< [{"jsonrpc":"2.0","id":"b","error":{"code":-32000,"message":"division by zero"}},{"jsonrpc":"2.0","id":"a","result":7}]
// The server asks, too; it counts for itself.
<< {"jsonrpc":"2.0","id":1,"method":"angle/unit"}
>> {"jsonrpc":"2.0","id":1,"result":"degrees"}
// Numbers that a double cannot hold keep their digits.
>> {"jsonrpc":"2.0","id":9007199254740993,"method":"factorial","params":[25]}
<< {"jsonrpc":"2.0","id":9007199254740993,"result":15511210043330985984000000}
