// Receive webhooks and verify their signature and timestamp.
//
// Run: WEBHOOK_SECRET=… PORT=8000 node webhook_receiver.mjs (Node 18 or newer, without dependencies)

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.WEBHOOK_SECRET;
const maxClockDifference = 300; // seconds
const processed = new Set(); // In production, use a database table with a unique key.

function isValid(timestamp, signature, rawBody) {
  if (!/^[0-9]{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > maxClockDifference) return false;
  const hmac = createHmac("sha256", secret).update(`${timestamp}.`).update(rawBody);
  const expected = Buffer.from(`sha256=${hmac.digest("hex")}`);
  const received = Buffer.from(signature);
  return received.length === expected.length && timingSafeEqual(received, expected);
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const rawBody = Buffer.concat(chunks); // Verify the raw bytes before you parse them.
  const timestamp = request.headers["x-service-webhook-timestamp"] ?? "";
  const signature = request.headers["x-service-webhook-signature"] ?? "";
  if (!isValid(timestamp, signature, rawBody)) {
    response.writeHead(401).end();
    return;
  }
  const event = JSON.parse(rawBody);
  const delivery = `${event.feedback.id} ${event.action.id}`; // The signature covers it.
  if (!processed.has(delivery)) {
    processed.add(delivery);
    console.log(event.workflow.name, event.feedback.id);
  }
  response.writeHead(204).end();
});

server.listen(Number(process.env.PORT ?? 8000), "127.0.0.1", () => {
  console.log("listening on port", server.address().port);
});
