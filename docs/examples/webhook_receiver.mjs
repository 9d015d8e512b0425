// Receive webhooks and verify their signature and timestamp.
//
// WEBHOOK_SECRET=… PORT=8000 node webhook_receiver.mjs (Node 18 or newer, nothing to install)

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.WEBHOOK_SECRET;
const fiveMinutes = 300;
const seen = new Set(); // In production, use a database table with a unique key.

function isGenuine(timestamp, signature, rawBody) {
  if (!/^[0-9]{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > fiveMinutes) return false;
  const hmac = createHmac("sha256", secret).update(`${timestamp}.`).update(rawBody);
  const expected = Buffer.from(`sha256=${hmac.digest("hex")}`);
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const server = createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const rawBody = Buffer.concat(pieces); // Verify the raw bytes before you parse them.
  const timestamp = request.headers["x-service-webhook-timestamp"] ?? "";
  const signature = request.headers["x-service-webhook-signature"] ?? "";
  if (!isGenuine(timestamp, signature, rawBody)) {
    response.writeHead(401).end();
    return;
  }
  const event = JSON.parse(rawBody);
  const delivery = `${event.feedback.id} ${event.action.id}`; // Signed, unlike the headers.
  if (!seen.has(delivery)) {
    seen.add(delivery);
    console.log(event.workflow.name, event.feedback.id);
  }
  response.writeHead(204).end();
});

server.listen(Number(process.env.PORT ?? 8000), "127.0.0.1", () => {
  console.log("listening on port", server.address().port);
});
