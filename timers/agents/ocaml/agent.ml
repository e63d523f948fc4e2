(* Answers questions about the clocks of OCaml in the agent protocol, version 1 (docs/agents.md). The words in angle quotes are
   filled in from clocks.json. *)

(* Converts a float of seconds to microseconds. Exact, because the clock counts whole microseconds. *)
let of_micros seconds = int_of_float (Float.round (seconds *. 1e6))

let kept = ref 0

let work state units =
  let state = ref state in
  for left = units downto 1 do
    state := (!state * 1664525) + left
  done;
  !state

type clock = {
  intervals : int -> int -> int list;
  batches : int -> int -> int list;
  readings : int -> int list;
  comparisons : int -> int -> int list;
  read : unit -> int;
}

let reference () = Unix.gettimeofday ()
let now () = of_micros (reference ())
let differences ticks first second = Array.to_list (Array.map2 (fun start stop -> ticks stop - ticks start) first second)

(* each clock:*)
let clock«n» =
  let ticks (v : «type») : int = «ticks» in
  let room count : «type» array = Array.make count «zero» in
  let intervals units repeat =
    let first = room repeat and second = room repeat in
    let state = ref !kept in
    for at = 0 to repeat - 1 do
      first.(at) <- «call»;
      state := work !state units;
      second.(at) <- «call»
    done;
    kept := !state;
    differences ticks first second
  and batches calls repeat =
    let first = Array.make repeat 0. and second = Array.make repeat 0. in
    for at = 0 to repeat - 1 do
      first.(at) <- reference ();
      for _ = calls downto 1 do
        ignore (Sys.opaque_identity («call»))
      done;
      second.(at) <- reference ()
    done;
    differences of_micros first second
  and readings count =
    let first = room count in
    for at = 0 to count - 1 do
      first.(at) <- «call»
    done;
    Array.to_list (Array.map ticks first)
  and comparisons units count =
    let before = Array.make count 0. and first = room count and after = Array.make count 0. in
    let state = ref !kept in
    for at = 0 to count - 1 do
      before.(at) <- reference ();
      first.(at) <- «call»;
      after.(at) <- reference ();
      state := work !state units
    done;
    kept := !state;
    let row at value = [ of_micros before.(at); ticks value; of_micros after.(at) ] in
    List.concat (Array.to_list (Array.mapi row first))
  and read () = ticks («call») in
  { intervals; batches; readings; comparisons; read }
(* end each *)
let clocks = [
  (* each clock:*)
  ("«id»", clock«n»);
  (* end each *)
]
let waiters = [
  (* each waiter:*)
  ("«id»", fun (ns : int) -> ignore ns; «wait»);
  (* end each *)
]

let compute ns =
  let stop = reference () +. (float_of_int ns /. 1e9) in
  while reference () < stop do
    ()
  done

(* Waits for a pause. Its end is computed, because sleeping ends late. *)
let pause ns =
  let stop = reference () +. (float_of_int ns /. 1e9) in
  if ns > 200_000 then Unix.sleepf (float_of_int (ns - 200_000) /. 1e9);
  compute (int_of_float ((stop -. reference ()) *. 1e9))

let advance clock during ms =
  (* The first read of each clock is dropped, because it finds cold caches. *)
  ignore (now ());
  ignore (clock.read ());
  let start_reference = now () in
  let start = clock.read () in
  if during = 0 then compute (ms * 1_000_000) else Unix.sleepf (float_of_int ms /. 1e3);
  let stop_reference = now () in
  let stop = clock.read () in
  [ stop - start; stop_reference - start_reference ]

let waits wait late most repeat lengths =
  let lengths = Array.of_list lengths in
  let rec go turn told =
    if turn = repeat * Array.length lengths then told
    else begin
      let ns = lengths.(turn mod Array.length lengths) in
      if most > 0 then pause (int_of_float (Random.float (float_of_int most)));
      let cpu = Sys.time () in
      let before = reference () in
      wait ns;
      let after = reference () in
      let cpu = of_micros (Sys.time () -. cpu) * 1000 in
      let at = turn mod Array.length lengths in
      let told = -1 :: cpu :: of_micros after :: of_micros before :: at :: told in
      if late >= 0 && (of_micros after - of_micros before) * 1000 > ns + late then told else go (turn + 1) told
    end
  in
  List.rev (go 0 [])

let periods wait period count stalls =
  let tick at =
    wait period;
    let told = now () in
    if List.mem at stalls then compute (period * 7 / 2);
    [ told; 1 ]
  in
  List.concat (List.init count tick)

let answer op id amounts =
  let waiter () = List.assoc id waiters and clock () = List.assoc id clocks in
  match (op, amounts) with
  | "waits", late :: most :: repeat :: lengths -> waits (waiter ()) late most repeat lengths
  | "periods", period :: count :: stalls -> periods (waiter ()) period count stalls
  | "intervals", repeat :: work -> List.concat_map (fun units -> (clock ()).intervals units repeat) work
  | "batches", [ calls; repeat ] -> (clock ()).batches calls repeat
  | "readings", [ count ] -> (clock ()).readings count
  | "comparisons", [ units; count; repeat ] -> (clock ()).comparisons units (count * repeat)
  | "advance", [ during; ms ] -> advance (clock ()) during ms
  | _ -> failwith "this agent does not know the question"

let collections () =
  let told = Gc.quick_stat () in
  told.Gc.minor_collections + told.Gc.major_collections

(* The numbers among the words of a question, after the id of its timer; `spin` and `sleep` become 0 and 1. *)
let rec amounts = function
  | "reference" :: "Unix.gettimeofday" :: rest -> amounts rest
  | "reference" :: _ -> failwith "this agent has one reference only"
  | "other-spin" :: _ -> failwith "this agent has no second thread"
  | "spin" :: rest -> 0 :: amounts rest
  | "sleep" :: rest -> 1 :: amounts rest
  | word :: rest -> ( match int_of_string_opt word with Some number -> number :: amounts rest | None -> amounts rest)
  | [] -> []

(* The keys and values of a line of JSON. *)
let words line =
  let blank = String.map (fun c -> if String.contains "{}[]\",:" c then ' ' else c) line in
  List.filter (fun word -> word <> "") (String.split_on_char ' ' (String.trim blank))

let reply line =
  match words line with
  | _ :: "hello" :: _ ->
      Printf.sprintf "{\"protocol\":1,\"ops\":[],\"timers\":[],\"runtime\":{\"name\":\"OCaml\",\"version\":\"%s\"}}" Sys.ocaml_version
  | _ :: op :: _ :: id :: rest ->
      let amounts = amounts rest in
      (* Garbage is collected now, so that it is seldom collected during the measurement. *)
      Gc.minor ();
      let before = collections () in
      let values = answer op id amounts in
      let disturbed = if collections () = before then "" else ",\"disturbed\":[\"gc\"]" in
      Printf.sprintf "{\"values\":[%s]%s}" (String.concat "," (List.map string_of_int values)) disturbed
  | _ -> failwith "this agent does not know the question"

let () =
  (* The minor heap is larger than the memory for an answer, so that garbage is rarely collected meanwhile. *)
  Gc.set { (Gc.get ()) with Gc.minor_heap_size = 1 lsl 22 };
  Random.self_init ();
  let refusal why = Printf.sprintf "{\"error\":%S}" (Printexc.to_string why) in
  try
    while true do
      let line = input_line stdin in
      print_endline (try reply line with why -> refusal why)
    done
  with End_of_file -> ()
