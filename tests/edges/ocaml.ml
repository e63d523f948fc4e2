(* Readings of clocks, by a loop that knows nothing of the agent: a line each, the id, nanoseconds in a unit, and readings. *)
let () =
  let all = Array.init 20000 (fun _ -> Unix.gettimeofday ()) in
  print_string "Unix.gettimeofday 1000";
  Array.iter (fun one -> Printf.printf " %.0f" (one *. 1e6)) all;
  print_newline ()
