/** The faults of a simulated cluster: of its answers, of its lists, and of its jobs. */

/** The probabilities of the faults of a call, of a list and of a job that is submitted. */
export interface ClusterFaults {
  /** The call fails, and nothing happened. */
  refusedCalls: number;
  /** The call fails after its time limit; what it asked for may have happened. */
  silentCalls: number;
  /** The call fails, and what it asked for has happened. */
  failedAnswers: number;
  lateCalls: number;
  /** The list has no job at all. */
  emptyLists: number;
  /** The list lacks some of the jobs. */
  partialLists: number;
  /** The list is an older one. */
  staleLists: number;
  /** The list has each job twice. */
  doubledLists: number;
  /** The job starts after minutes. */
  lateJobs: number;
  /** The job never starts. */
  heldJobs: number;
  /** The job cannot start until somebody corrects it, and the cluster says so. */
  blockedJobs: number;
  /** The job ends before its worker registers. */
  failingJobs: number;
  /** The job runs, and its worker never registers. */
  hangingJobs: number;
  /** The job does not end by SIGTERM. */
  stubbornJobs: number;
}

export const NO_CLUSTER_FAULTS: ClusterFaults = {
  ...{ refusedCalls: 0, silentCalls: 0, failedAnswers: 0, lateCalls: 0 },
  ...{ emptyLists: 0, partialLists: 0, staleLists: 0, doubledLists: 0 },
  ...{ lateJobs: 0, heldJobs: 0, blockedJobs: 0, failingJobs: 0, hangingJobs: 0, stubbornJobs: 0 },
};
