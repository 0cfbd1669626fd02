// The least that an Express handler can do; the yardstick of P3. Prints its URL.
import express from "express";

const app = express();
app.disable("x-powered-by");
app.use((_request, response) => response.end("ok"));
const server = app.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
