"""Calls each tool of `rpcgraph mcp` with the official client, which validates results: client.py PROGRAM LOG"""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

CALLS = {
    "overview": {},
    "incident": {},
    "ask": {"question": "errors"},
    "show": {"messages": ["m1"]},
    "query": {"sparql": "SELECT ?method { ?request jrpc:hasMethod ?method }"},
    "schema": {},
}


async def main(program: str, log: str) -> None:
    server = StdioServerParameters(command=program, args=["mcp", log])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        for tool in (await session.list_tools()).tools:
            result = await session.call_tool(tool.name, CALLS[tool.name])
            # Nothing stands out in a short log.
            if not result.structured_content["rows"] and tool.name != "incident":
                sys.exit(f"{tool.name} has no rows: {result}")
            print(tool.name)


asyncio.run(main(*sys.argv[1:]))
