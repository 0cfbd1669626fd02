// Our own edge with handlers that read a body and throw it away: the yardstick of P7. Speaks as much of the upload
// protocol as a push needs. Prints its URL.
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
    request.on("data", () => {});
    request.on("end", () => response.writeHead(201, { "Content-Length": 0 }).end());
  },
});
console.log(`http://127.0.0.1:${edge.port}`);
