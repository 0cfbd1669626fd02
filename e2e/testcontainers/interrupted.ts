// Starts a container, says its id, and waits to be told to end: a test run that somebody interrupts.
import { PullproofContainer } from "../../services/testing/testcontainers.ts";

const started = await new PullproofContainer(process.argv[2]).start();
console.log(started.getId());
setInterval(() => undefined, 1000);
