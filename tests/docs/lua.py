"""Lua as Argo CD runs it: 5.1, without the libraries for strings, mathematics and files; `os` only by `require`.

So it is in Argo CD's util/lua/lua.go: a script that needs more fails there, and here.
"""

from __future__ import annotations

from typing import Any

from lupa import lua51

_BOUNDS = """
local date, time = os.date, os.time
package.loaded["os"] = {date = date, time = time}
string, math, os, io, debug, coroutine = nil, nil, nil, nil, nil, nil
getmetatable("").__index = nil
"""


def run(script: str, obj: dict[str, Any]) -> Any:
    """What it returns for that object. LuaError where it fails."""
    lua = lua51.LuaRuntime(register_eval=False, register_builtins=False)
    lua.execute(_BOUNDS)
    lua.globals()["obj"] = lua.table_from(_without_nulls(obj), recursive=True)
    return _from_lua(lua.execute(script))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def _from_lua(value: Any) -> Any:
    if lua51.lua_type(value) != "table":
        return value
    if (keys := list(value.keys())) and all(isinstance(key, int) for key in keys):
        return [_from_lua(value[index]) for index in sorted(keys)]
    return {key: _from_lua(value[key]) for key in keys}
