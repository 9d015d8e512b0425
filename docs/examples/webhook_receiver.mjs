// Receive webhooks and verify their signature and timestamp.
//
// Run: WEBHOOK_SECRET=… PORT=8000 node webhook_receiver.mjs (Node 18 or newer, without dependencies)

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.WEBHOOK_SECRET;
const maxClockDifference = 300; // seconds
const maxBodyBytes = 1024 * 1024; // A webhook's body has at most 200 KB.
const processed = new Set(); // In production, use a database table with a unique key.

if (!secret) {
  console.error("Set WEBHOOK_SECRET. With an empty secret, anyone can sign webhooks.");
  process.exit(1);
}

function isValid(timestamp, signature, rawBody) {
  if (!/^[0-9]{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > maxClockDifference) return false;
  const hmac = createHmac("sha256", secret).update(`${timestamp}.`).update(rawBody);
  const expected = Buffer.from(`sha256=${hmac.digest("hex")}`);
  const received = Buffer.from(signature);
  return received.length === expected.length && timingSafeEqual(received, expected);
}

async function receive(request, response) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > maxBodyBytes) {
      response.writeHead(413, { Connection: "close" }).end();
      return;
    }
    chunks.push(chunk);
  }
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
}

const server = createServer((request, response) => {
  receive(request, response).catch((error) => {
    // A client can close its connection at any time.
    console.error("request failed:", error.code ?? error.name);
    if (response.headersSent) response.destroy();
    else response.writeHead(500).end();
  });
});

server.listen(Number(process.env.PORT ?? 8000), "127.0.0.1", () => {
  console.log("listening on port", server.address().port);
});
