/** Finds the processes of a run whose end no pid namespace guarantees. */
import {
  findProcessesByMarker,
  findProcessesByUsers,
  findWriters,
  listProcesses,
} from '../process/processes.ts';
import { listCgroupProcesses, type RunCgroups } from '../sandbox/run-cgroups.ts';

interface RunProcessTraits {
  /** First process of the run, which has ended; it leads the process group and the session of the run. */
  rootPid: number;
  /** When that process started, in clock ticks since boot. */
  rootStartTicks: string;
  /** Value of RUN_MARKER_VARIABLE in the environment of the run's processes. */
  marker: string;
  /** Start in clock ticks of every process that the watchdog saw, by process id. */
  seen: ReadonlyMap<number, string>;
  /** User id that this run alone has. */
  user: number | undefined;
  cgroup: RunCgroups | undefined;
  /** Files of stdout and stderr; processes that write to them are searched when the run has no user of its own. */
  outputFiles: string[];
}

/**
 * Returns the ids of live processes of the run, without `rootPid`. They have its process group, session, user, cgroup,
 * environment marker or output, or the watchdog saw them. Descendants of such a process belong to the run too.
 */
export function findRunProcesses(traits: RunProcessTraits): Set<number> {
  const { rootPid, rootStartTicks, marker, seen, user, cgroup, outputFiles } = traits;
  const all = listProcesses();
  const known = all.filter(
    ({ pid, processGroupId, sessionId, startTicks }) =>
      pid !== rootPid &&
      (processGroupId === rootPid || sessionId === rootPid || seen.get(pid) === startTicks),
  );
  const found = new Set(known.map(({ pid }) => pid));
  for (const { pid, parentPid } of all) if (found.has(parentPid)) found.add(pid);
  for (const pid of findProcessesByMarker((text) => text === marker)) found.add(pid);
  if (user === undefined) for (const pid of findWriters(outputFiles, rootStartTicks)) found.add(pid);
  else for (const pid of findProcessesByUsers(new Set([user]))) found.add(pid);
  if (cgroup !== undefined) for (const pid of listCgroupProcesses(cgroup)) found.add(pid);
  found.delete(rootPid);
  return found;
}
