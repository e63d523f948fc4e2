(* Prints readings of clocks, by a loop that is independent of the agent. Each line has the id, the nanoseconds per unit, and readings. *)
let show id read =
  let all = Array.init 20000 (fun _ -> read ()) in
  Printf.printf "%s 1000" id;
  Array.iter (fun one -> Printf.printf " %.0f" (one *. 1e6)) all;
  print_newline ()

let () =
  show "Unix.gettimeofday" Unix.gettimeofday;
  show "Sys.time" Sys.time;
  show "Unix.times" (fun () -> let used = Unix.times () in used.Unix.tms_utime +. used.Unix.tms_stime)
