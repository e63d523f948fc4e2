#!/usr/bin/env escript
%% Prints readings of clocks, by a loop that is independent of the agent. Each line has the id, the nanoseconds per unit, and readings.
main(_) ->
    Micros = fun({_, S, U}) -> S * 1000000 + U end,
    show("os:timestamp", 1000, fun() -> Micros(os:timestamp()) end),
    show("timestamp", 1000, fun() -> Micros(erlang:timestamp()) end),
    show("monotonic_time", 1, fun() -> erlang:monotonic_time(nanosecond) end),
    show("system_time", 1, fun() -> erlang:system_time(nanosecond) end),
    show("os:system_time", 1, fun() -> os:system_time(nanosecond) end),
    show("os:perf_counter", 1, fun() -> os:perf_counter(nanosecond) end).

show(Id, Unit, Read) ->
    All = [Read() || _ <- lists:seq(1, 20000)],
    io:format("~s ~b ~s~n", [Id, Unit, lists:join(" ", [integer_to_list(One) || One <- All])]).
