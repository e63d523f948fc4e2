%% Answers questions about the clocks of Erlang in the agent protocol, version 1 (docs/agents.md). The words in angle quotes are filled
%% in from clocks.json. Readings are added to a list, because a loop cannot store them in another way; each question is answered by a new
%% process whose heap is large enough for the list, so that no garbage is collected meanwhile.
-module(agent).
-export([main/0]).

micros({Mega, Seconds, Micros}) -> (Mega * 1000000 + Seconds) * 1000000 + Micros.
%% Milliseconds, rounded up.
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
answer("intervals", "«id»", [Repeat | Work]) -> lists:append([intervals_«n»(Units, Repeat, [], 1) || Units <- Work]);
answer("batches", "«id»", [Calls, Repeat]) -> batches_«n»(Calls, Repeat, []);
answer("readings", "«id»", [Count]) -> readings_«n»(Count, []);
answer("comparisons", "«id»", [Units, Count, Repeat]) -> comparisons_«n»(Units, Count * Repeat, [], 1);
answer("advance", "«id»", [During, Ms]) -> advance(fun read_«n»/0, During, Ms);
%% end each
%% each waiter:
answer("waits", "«id»", [Most, Repeat | Lengths]) ->
    Each = lists:zip(lists:seq(0, length(Lengths) - 1), Lengths),
    waits(fun wait_«n»/1, Most, lists:append(lists:duplicate(Repeat, Each)), []);
answer("periods", "«id»", [Period, Count]) -> periods(fun wait_«n»/1, Period, Count, []);
%% end each
answer(_, _, _) -> error('this agent does not know the question').

compute(Ns) -> compute_until(now_ns() + Ns).
compute_until(End) ->
    case now_ns() of
        Now when Now < End -> compute_until(End);
        _ -> ok
    end.

%% Waits for a pause. Its end is computed, because sleeping ends late.
pause(Ns) ->
    End = now_ns() + Ns,
    timer:sleep(max(Ns - 1200000, 0) div 1000000),
    compute_until(End).

advance(Read, During, Ms) ->
    %% The first read of each clock is dropped, because it finds cold caches.
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

waits(_, _, [], Told) -> lists:append(lists:reverse(Told));
waits(Wait, Most, [{At, Ns} | Rest], Told) ->
    pause(case Most of 0 -> 0; _ -> rand:uniform(Most) end),
    Before = now_ns(),
    Wait(Ns),
    After = now_ns(),
    waits(Wait, Most, Rest, [[At, Before, After, -1, -1] | Told]).

periods(_, _, 0, Told) -> lists:reverse(Told);
periods(Wait, Period, Count, Told) ->
    Wait(Period),
    periods(Wait, Period, Count - 1, [1, now_ns() | Told]).

%% The maximum number of words of memory for an answer; a reading of more than 59 bits needs memory too.
answer_words("intervals", [Repeat | Work]) -> 40 * Repeat * length(Work);
answer_words("batches", [Calls, Repeat]) -> (40 + 8 * Calls) * Repeat;
answer_words("readings", [Count]) -> 40 * Count;
answer_words("comparisons", [_, Count, Repeat]) -> 80 * Count * Repeat;
answer_words(_, _) -> 0.
%% The maximum initial heap of a process, in words.
-define(MAX_WORDS, 20000000).

%% Answers a question in a new process whose heap holds the answer without a garbage collection.
answer_in_new_process(Op, Id, Amounts) ->
    Words = 10000 + min(answer_words(Op, Amounts), ?MAX_WORDS),
    Self = self(),
    Ask = fun() ->
        Result =
            try {told, answer(Op, Id, Amounts)}
            catch _:Why -> {failed, Why}
            end,
        {garbage_collection, Told} = process_info(self(), garbage_collection),
        Self ! {Result, proplists:get_value(minor_gcs, Told)}
    end,
    {_, Monitor} = spawn_opt(Ask, [monitor, {min_heap_size, Words}]),
    receive
        {{told, Told}, Collections} ->
            demonitor(Monitor, [flush]),
            Line = lists:join(",", [integer_to_list(Value) || Value <- Told]),
            Disturbed = case Collections of 0 -> ""; _ -> ",\"disturbed\":[\"gc\"]" end,
            %% All periods are those of loops of waits.
            Start = case Op of "periods" -> "\"start\":null,"; _ -> "" end,
            ["{", Start, "\"values\":[", Line, "]", Disturbed, "}"];
        {{failed, Why}, _} ->
            demonitor(Monitor, [flush]),
            refusal(Why);
        {'DOWN', Monitor, _, _, Why} -> refusal(Why)
    end.

hello() ->
    Warp = atom_to_list(erlang:system_info(time_warp_mode)),
    {ok, Version} = file:read_file(filename:join([code:root_dir(), "releases", erlang:system_info(otp_release), "OTP_VERSION"])),
    Native = fun(Source) -> 1.0e9 / proplists:get_value(resolution, Source) end,
    Monotonic = Native(erlang:system_info(os_monotonic_time_source)),
    System = Native(erlang:system_info(os_system_time_source)),
    Timer = fun(Id, Ns) -> io_lib:format("{\"id\":\"~s\",\"resolution_ns\":~p}", [Id, Ns]) end,
    io_lib:format("{\"protocol\":1,\"ops\":[],\"runtime\":{\"name\":\"Erlang\",\"version\":\"~ts, ~s\"},\"timers\":[~s,~s]}",
        [string:trim(Version), Warp, Timer("monotonic_time", Monotonic), Timer("os:system_time", System)]).

refusal(Why) ->
    Text = lists:flatten(io_lib:format("~0p", [Why])),
    ["{\"error\":\"", [case lists:member(C, "\"\\\n") of true -> $'; false -> C end || C <- Text], "\"}"].

%% The numbers among the words of a question, after the id of its timer; `spin` and `sleep` become 0 and 1.
amounts(["reference", "monotonic_time" | Rest]) -> amounts(Rest);
amounts(["reference" | _]) -> error('this agent has one reference only');
amounts(["other-spin" | _]) -> error('this agent has no second thread');
amounts(["spin" | Rest]) -> [0 | amounts(Rest)];
amounts(["sleep" | Rest]) -> [1 | amounts(Rest)];
amounts([Word | Rest]) ->
    case string:to_integer(Word) of
        {Number, ""} when is_integer(Number) -> [Number | amounts(Rest)];
        _ -> amounts(Rest)
    end;
amounts([]) -> [].

%% Answers a question, a line of JSON, whose keys and values are read as words.
reply(Line) ->
    case string:lexemes(lists:flatten(string:replace(Line, "\":", " ", all)), "{}[]\", \n") of
        [_, "hello" | _] -> hello();
        [_, Op, _, Id | Rest] -> answer_in_new_process(Op, Id, amounts(Rest));
        _ -> refusal('this agent does not know the question')
    end.

serve() ->
    case io:get_line("") of
        eof -> halt(0);
        {error, _} -> halt(1);
        Line ->
            Reply = try reply(Line) catch _:Why -> refusal(Why) end,
            io:put_chars([Reply, "\n"]),
            serve()
    end.

main() -> serve().
