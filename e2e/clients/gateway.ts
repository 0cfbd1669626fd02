// Runs inside the clients' network: what arrives at ADDRESS:443 goes, byte for byte, to the stack outside through a Unix
// socket, which network namespaces do not separate. Usage: gateway.ts ADDRESS SOCKET; ends when standard input does.
import net from "node:net";

const [address = "", socketPath = ""] = process.argv.slice(2);

const server = net.createServer({ allowHalfOpen: true }, (client) => {
  const stack = net.connect({ path: socketPath, allowHalfOpen: true });
  client.pipe(stack).pipe(client);
  client.on("error", () => stack.destroy());
  stack.on("error", () => client.destroy());
});
server.listen(443, address, () => process.stdout.write("ready\n"));
process.stdin.resume().on("end", () => process.exit(0));
