// An Express handler that reads a token from a form and checks its RS256 signature, nothing more: the limit of P3 on one
// core. The public key as JWK is its argument. Prints its URL.
import { createPublicKey, verify } from "node:crypto";
import express from "express";

const key = createPublicKey({ key: JSON.parse(process.argv[2]), format: "jwk" });
const app = express();
app.disable("x-powered-by");
app.use((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const token = new URLSearchParams(Buffer.concat(chunks).toString()).get("WebIdentityToken");
    const end = token.lastIndexOf(".");
    const good = verify("sha256", Buffer.from(token.slice(0, end)), key, Buffer.from(token.slice(end + 1), "base64url"));
    response.status(good ? 200 : 403).end("ok");
  });
});
const server = app.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
