"""Executes a program as a subprocess many times by Ray, and prints the seconds that it took without the start of Ray."""

import json
import subprocess
import sys
import time

import ray

program, slots, jobs, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]


@ray.remote(num_cpus=1, max_retries=0)
def execute():
    return subprocess.run([program], check=True, capture_output=True).stdout


ray.init(
    num_cpus=slots,
    include_dashboard=False,
    log_to_driver=False,
    logging_level="ERROR",
    object_store_memory=80 * 1024 * 1024,
    _node_ip_address="127.0.0.1",
    _temp_dir=folder,
)
# The worker processes of Ray start with the first tasks.
ray.get([execute.remote() for _ in range(4 * slots)])
start = time.perf_counter()
outputs = ray.get([execute.remote() for _ in range(jobs)])
seconds = time.perf_counter() - start
assert outputs == [b"{}\n"] * jobs
ray.shutdown()
print(json.dumps({"seconds": seconds}))
