"""Copy all feedback of an account into a SQLite file, and keep the copy up to date.

Set BASE_URL, API_KEY and API_SECRET, then run ``python3 feedback_mirror.py FILE [SECONDS]``. The
program reads all changes since its last run. With SECONDS, it repeats this after so many seconds.
It needs only the standard library.

Paging ends when ``hasMore`` is false: a cursor is always there. A program that only reads ``items``
would keep feedback that ``removed`` names, so this one deletes it.
"""

import json
import os
import random
import sqlite3
import sys
import time
import urllib.error
import urllib.request

TABLES = """
CREATE TABLE IF NOT EXISTS feedback (
    id TEXT PRIMARY KEY,
    updated_at TEXT NOT NULL,
    rating INTEGER,
    customer_id TEXT,
    record TEXT NOT NULL,   -- the JSON of the feedback
    copy INTEGER NOT NULL   -- the number of the copy in which it was read last
);
CREATE TABLE IF NOT EXISTS position (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    cursor TEXT,            -- NULL: start at the beginning
    copy INTEGER NOT NULL   -- increases when the feed starts again
);
INSERT OR IGNORE INTO position VALUES (1, NULL, 1);
"""
RETRIED = {429, 500, 502, 503, 504}


class InvalidCursor(Exception):
    """The operator restored earlier data: the feed starts again."""


def main():
    file, pause_s = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else None
    database = sqlite3.connect(file)
    database.executescript(TABLES)
    while True:
        print("changes:", synchronize(database), flush=True)
        if pause_s is None:
            return
        time.sleep(pause_s)


def synchronize(database):
    """Read all known changes. Return their number."""
    changes = 0
    while True:
        cursor, copy = database.execute("SELECT cursor, copy FROM position").fetchone()
        body = {"limit": 100, "cursor": cursor} if cursor else {"limit": 100}
        try:
            page = post("/partners/feedback/list", body)
        except InvalidCursor:
            with database:
                database.execute("UPDATE position SET cursor = NULL, copy = ?", [copy + 1])
            continue
        changes += apply(database, page, copy)
        if not page["meta"]["hasMore"]:
            return changes


def apply(database, page, copy):
    """Store a page and its cursor in one transaction, so that no change is lost."""
    with database:
        for item in page["items"]:
            database.execute(
                "INSERT OR REPLACE INTO feedback VALUES (?, ?, ?, ?, ?, ?)",
                [
                    item["id"],
                    item["updatedAt"],
                    item["rating"],
                    item["customerId"],
                    json.dumps(item),
                    copy,
                ],
            )
        for removed in page["removed"]:
            database.execute("DELETE FROM feedback WHERE id = ?", [removed["id"]])
        meta = page["meta"]
        database.execute("UPDATE position SET cursor = ?", [meta["cursor"]])
        if not meta["hasMore"]:
            # After a new start, remove the feedback that did not return.
            database.execute("DELETE FROM feedback WHERE copy < ?", [copy])
    return meta["itemCount"] + meta["removedCount"]


def post(path, body):
    """Send a request, and repeat it after errors that pass. Return the JSON of the response."""
    headers = {
        "Content-Type": "application/json",
        "X-API-KEY": os.environ["API_KEY"],
        "X-API-SECRET": os.environ["API_SECRET"],
    }
    url, data = os.environ["BASE_URL"] + path, json.dumps(body).encode()
    delay_s = 1.0
    while True:
        request = urllib.request.Request(url, data, headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            if error.code == 400 and json.loads(text).get("code") == "invalid_cursor":
                raise InvalidCursor from None
            if error.code not in RETRIED:
                sys.exit(f"{error.code}: {text}")
            wait_s = max(delay_s, float(error.headers.get("Retry-After") or 0))
        except OSError as error:
            print("retry after:", error, file=sys.stderr)
            wait_s = delay_s
        time.sleep(wait_s * random.uniform(1, 1.5))
        delay_s = min(60.0, delay_s * 2)


if __name__ == "__main__":
    main()
