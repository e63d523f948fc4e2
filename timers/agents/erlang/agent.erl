%% The clocks of Erlang, in words: each line of standard input is a question, each line of standard output its answer.
%% Time that is read is consed to a list, as nothing else can be kept in a loop; each question has a process of its own with room for it,
%% so that nothing is collected meanwhile.
-module(agent).
-export([main/0]).

micros({Mega, Seconds, Micros}) -> (Mega * 1000000 + Seconds) * 1000000 + Micros.
%% Rounded up, as a user has to.
millis(Ns) -> (Ns + 999999) div 1000000.
now_ns() -> erlang:monotonic_time(nanosecond).

work(State, 0) -> State;
work(State, Units) -> work((State * 1664525 + Units) band 16#ffffffff, Units - 1).

%% each clock:
ticks_«n»(V) -> «ticks».
read_«n»() -> ticks_«n»(«call»).
calls_«n»(0, Last) -> Last;
calls_«n»(Left, _) -> calls_«n»(Left - 1, «call»).
intervals_«n»(_, 0, Told, _) -> lists:reverse([ticks_«n»(B) - ticks_«n»(A) || {A, B} <- Told]);
intervals_«n»(Units, Left, Told, State) ->
    A = «call»,
    Worked = work(State, Units),
    B = «call»,
    intervals_«n»(Units, Left - 1, [{A, B} | Told], Worked).
batches_«n»(_, 0, Told) -> lists:reverse([B - A || {A, _, B} <- Told]);
batches_«n»(Calls, Left, Told) ->
    A = erlang:monotonic_time(nanosecond),
    Last = calls_«n»(Calls, 0),
    B = erlang:monotonic_time(nanosecond),
    batches_«n»(Calls, Left - 1, [{A, Last, B} | Told]).
readings_«n»(0, Told) -> lists:reverse([ticks_«n»(V) || V <- Told]);
readings_«n»(Left, Told) -> readings_«n»(Left - 1, [«call» | Told]).
comparisons_«n»(_, 0, Told, _) -> lists:append(lists:reverse([[A, ticks_«n»(V), B] || {A, V, B} <- Told]));
comparisons_«n»(Units, Left, Told, State) ->
    A = erlang:monotonic_time(nanosecond),
    V = «call»,
    B = erlang:monotonic_time(nanosecond),
    comparisons_«n»(Units, Left - 1, [{A, V, B} | Told], work(State, Units)).
%% end each
%% each waiter:
wait_«n»(Ns) -> _ = Ns, «wait».
%% end each

%% each clock:
answer("intervals", [«n», Repeat | Work]) -> lists:append([intervals_«n»(Units, Repeat, [], 1) || Units <- Work]);
answer("batches", [«n», Calls, Repeat]) -> batches_«n»(Calls, Repeat, []);
answer("readings", [«n», Count]) -> readings_«n»(Count, []);
answer("comparisons", [«n», Units, Count]) -> comparisons_«n»(Units, Count, [], 1);
answer("advance", [«n», During, Ms]) -> advance(fun read_«n»/0, During, Ms);
%% end each
%% each waiter:
answer("waits", [«n», Late, Most, Repeat | Lengths]) ->
    waits(fun wait_«n»/1, Late, Most, lists:append(lists:duplicate(Repeat, Lengths)), []);
answer("periods", [«n», Period, Count | Stalls]) -> periods(fun wait_«n»/1, Period, 0, Count, Stalls, []);
%% end each
answer(_, _) -> error('this agent does not know that').

compute(Ns) -> compute_until(now_ns() + Ns).
compute_until(End) ->
    case now_ns() of
        Now when Now < End -> compute_until(End);
        _ -> ok
    end.

%% Sleeps, but for the end, as sleeping ends late.
pause(Ns) ->
    End = now_ns() + Ns,
    timer:sleep(max(Ns - 1200000, 0) div 1000000),
    compute_until(End).

advance(Read, During, Ms) ->
    %% The first reads of both find cold caches.
    now_ns(),
    Read(),
    StartReference = now_ns(),
    Start = Read(),
    case During of
        0 -> compute(Ms * 1000000);
        _ -> timer:sleep(Ms)
    end,
    EndReference = now_ns(),
    End = Read(),
    [End - Start, EndReference - StartReference].

waits(_, _, _, [], Told) -> lists:append(lists:reverse(Told));
waits(Wait, Late, Most, [Ns | Rest], Told) ->
    pause(case Most of 0 -> 0; _ -> rand:uniform(Most) end),
    Before = now_ns(),
    Wait(Ns),
    After = now_ns(),
    Left = if Late >= 0, After - Before > Ns + Late -> []; true -> Rest end,
    waits(Wait, Late, Most, Left, [[Before, After] | Told]).

periods(_, _, Count, Count, _, Told) -> lists:reverse(Told);
periods(Wait, Period, At, Count, Stalls, Told) ->
    Wait(Period),
    Now = now_ns(),
    lists:member(At, Stalls) andalso compute(Period * 7 div 2),
    periods(Wait, Period, At + 1, Count, Stalls, [Now | Told]).

%% Words that an answer takes at most, with what is made of it; clocks that tell more than 59 bits make something with each call.
room("intervals", [Repeat | Work]) -> 40 * Repeat * length(Work);
room("batches", [Calls, Repeat]) -> (40 + 8 * Calls) * Repeat;
room("readings", [Count]) -> 40 * Count;
room("comparisons", [_, Count]) -> 80 * Count;
room(_, _) -> 0.
%% No process has more than so many to begin with.
-define(MOST_WORDS, 20000000).

%% In a process of its own, that can hold what it answers without a collection.
asked(Op, [_ | Rest] = Amounts) ->
    Words = 10000 + min(room(Op, Rest), ?MOST_WORDS),
    Self = self(),
    Ask = fun() ->
        Result =
            try {told, answer(Op, Amounts)}
            catch _:Why -> {failed, Why}
            end,
        {garbage_collection, Told} = process_info(self(), garbage_collection),
        Self ! {Result, proplists:get_value(minor_gcs, Told)}
    end,
    {_, Monitor} = spawn_opt(Ask, [monitor, {min_heap_size, Words}]),
    receive
        {{told, Told}, Collections} ->
            demonitor(Monitor, [flush]),
            Line = lists:join(" ", [integer_to_list(Value) || Value <- Told]),
            [Line, case Collections of 0 -> ""; _ -> " | gc" end];
        {{failed, Why}, _} ->
            demonitor(Monitor, [flush]),
            io_lib:format("!~0p", [Why]);
        {'DOWN', Monitor, _, _, Why} -> io_lib:format("!~0p", [Why])
    end.

hello() ->
    Warp = atom_to_list(erlang:system_info(time_warp_mode)),
    {ok, Version} = file:read_file(filename:join([code:root_dir(), "releases", erlang:system_info(otp_release), "OTP_VERSION"])),
    Native = fun(Source) -> 1.0e9 / proplists:get_value(resolution, Source) end,
    Monotonic = Native(erlang:system_info(os_monotonic_time_source)),
    System = Native(erlang:system_info(os_system_time_source)),
    io_lib:format("Erlang\t~ts, ~s\tmonotonic_time=~p\tos:system_time=~p", [string:trim(Version), Warp, Monotonic, System]).

serve() ->
    case io:get_line("") of
        eof -> halt(0);
        {error, _} -> halt(1);
        Line ->
            Told =
                case string:lexemes(Line, " \n") of
                    ["hello" | _] -> hello();
                    [Op | Words = [_ | _]] ->
                        try asked(Op, [list_to_integer(Word) || Word <- Words])
                        catch _:Why -> io_lib:format("!~0p", [Why])
                        end;
                    _ -> "!this agent does not know that"
                end,
            io:put_chars([Told, "\n"]),
            serve()
    end.

main() -> serve().
