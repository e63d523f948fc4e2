#!/usr/bin/env escript
%% Readings of clocks, by a loop that knows nothing of the agent: a line each, the id, nanoseconds in a unit, and readings.
main(_) ->
    All = [begin {_, S, U} = os:timestamp(), S * 1000000 + U end || _ <- lists:seq(1, 20000)],
    io:format("os:timestamp 1000 ~s~n", [lists:join(" ", [integer_to_list(One) || One <- All])]).
