module pullproof.dev/bench/load

go 1.26
