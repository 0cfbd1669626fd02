// Our own edge with handlers that read a body and throw it away, or with the argument `hash` take its SHA-256 on the way:
// the yardsticks of P7. Speaks as much of the upload protocol as a push needs. Prints its URL.
import { createHash } from "node:crypto";
import { startEdge } from "../services/shared/edge.ts";

const edge = await startEdge({
  address: "127.0.0.1",
  port: 0,
  certificates: {
    caPem: () => Promise.reject(new Error("plain http only")),
    certificateFor: () => Promise.reject(new Error("plain http only")),
  },
  route: () => (request, response) => {
    if (request.method === "POST") {
      response.writeHead(202, { Location: "/v2/discard/blobs/uploads/1", "Content-Length": 0 }).end();
      return;
    }
    const hash = process.argv[2] === "hash" ? createHash("sha256") : undefined;
    request.on("data", (chunk) => hash?.update(chunk));
    request.on("end", () => {
      hash?.digest();
      response.writeHead(201, { "Content-Length": 0 }).end();
    });
  },
});
console.log(`http://127.0.0.1:${edge.port}`);
