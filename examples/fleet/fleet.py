#!/usr/bin/env python3
"""A fleet of devices that lose nothing: each keeps what it has not sent on disk, and sends it under a key of its own.

    pip install ./clients/python
    TOKEN=$(cat proofstream-data/token) python3 examples/fleet/fleet.py [--outage 2]

The devices are the seismic networks of the demo data: each plays its earthquakes of a week as if they happened now. With
--outage a device finds the node gone for so many tries, and again after a restart. Every batch is stored once.
"""

import argparse
import gzip
import json
import os
import pathlib
import tempfile

import proofstream

DATA = pathlib.Path(__file__).parent.parent.parent / "demo" / "earthquakes.geojson.gz"


class Device:
    """Sends readings, oldest first. Its queue is a directory of files: a file goes when the node has said 200 or 202."""

    def __init__(self, name, folder, node):
        self.name = name
        self.queue = pathlib.Path(folder) / name
        self.queue.mkdir(parents=True, exist_ok=True)
        self.node = node

    def measure(self, number, readings):
        """Keeps a batch: a whole file or none, whenever the power goes."""
        part = self.queue / f"{number:06}.part"
        part.write_text(json.dumps(readings))
        part.rename(self.queue / f"{number:06}.json")

    def send(self):
        """Sends what is kept. The key names device and batch, so a repeat is stored once, after any crash."""
        for file in sorted(self.queue.glob("*.json")):
            try:
                rows = json.loads(file.read_text())
                self.node.ingest("fleet/quakes", rows, create=True, key=f"{self.name}-{file.stem}")
            except proofstream.Unreachable:
                return False  # Kept for the next time.
            file.unlink()
        return True


def weeks_of_networks():
    """Network → its earthquakes, in order."""
    networks = {}
    for feature in json.loads(gzip.decompress(DATA.read_bytes()))["features"]:
        quake = feature["properties"]
        row = {name: quake[name] for name in ("event_time", "net", "mag", "place", "status")}
        networks.setdefault(quake["net"], []).append(row)
    return networks


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--server", default=os.environ.get("PROOFSTREAM_SERVER", "http://127.0.0.1:8080"))
    options.add_argument("--outage", type=int, default=0, metavar="TRIES")
    given = options.parse_args()
    token = os.environ.get("TOKEN")
    node = proofstream.Node(given.server, token)
    gone = proofstream.Node("http://127.0.0.1:9", token, attempts=1)
    networks = weeks_of_networks()
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in networks.items():
            device = Device(name, folder, gone if given.outage else node)
            for number, first in enumerate(range(0, len(rows), 50)):
                device.measure(number, rows[first : first + 50])
            for _ in range(given.outage):
                assert not device.send(), "the node was gone"
            # A restart: another process over the same queue, which sends the first batch twice.
            again = Device(name, folder, node)
            again.node.ingest("fleet/quakes", rows[:50], create=True, key=f"{name}-000000")
            assert again.send()
    answer = node.query(
        "select net, count(*) as quakes, max(mag) as strongest from fleet.quakes group by net order by quakes desc limit 5",
        proof=True,
    )
    total = node.query("select count(*) as n from fleet.quakes").rows()[0]["n"]
    for row in answer.rows():
        print(row["net"], row["quakes"], row["strongest"], sep="\t")
    print(f"{total} readings of {len(networks)} devices, signed by {answer.checked.signer}")


if __name__ == "__main__":
    main()
