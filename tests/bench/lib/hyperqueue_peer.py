"""Runs in the throwaway environment that has `hyperqueue`: N tasks of /bin/true on a local cluster of
C cores, in JSON how long it took from the submission to the end. Arguments: N C FOLDER."""
import json
import os
import sys
import time

from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig


def main():
    tasks, cores, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    os.chdir(folder)
    with LocalCluster(worker_config=WorkerConfig(cores=cores)) as cluster:
        client = cluster.client()
        warm = Job()
        warm.program(["/bin/true"])
        client.wait_for_jobs([client.submit(warm)])
        job = Job()
        for _ in range(tasks):  # stdout and stderr into files, as is its default
            job.program(["/bin/true"], task_dir=True)
        begun = time.monotonic()
        client.wait_for_jobs([client.submit(job)])
        print(json.dumps({"tasks": tasks, "seconds": time.monotonic() - begun}))


if __name__ == "__main__":
    main()
