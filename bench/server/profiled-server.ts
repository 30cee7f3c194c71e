/**
 * A server that profiles its main thread on request, for `steps.ts`. The message `start` begins a measurement. The
 * message `stop` ends it and prints one line of JSON with the processor time since then and, if requested, the path of
 * the profile.
 */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { runProcess } from '../../server/process.ts';

/** A message that starts or stops a measurement. */
export interface MeasurementMessage {
  measure: 'start' | 'stop';
  /** Also records a profile, which slows the server by about a tenth. */
  profile: boolean;
}

/** Processor time in microseconds. */
export interface Measurement {
  measured: true;
  processMicros: number;
  mainThreadMicros: number;
  profilePath: string | null;
}

/** A thousand samples a second; more of them make SQLite's waits fail (see steps.ts). */
const SAMPLING_INTERVAL_MICROS = 1000;

const session = new Session();
session.connect();
let begun = { process: process.cpuUsage(), thread: process.threadCpuUsage() };

async function start(profile: boolean): Promise<void> {
  if (profile) {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_INTERVAL_MICROS });
    await session.post('Profiler.start');
  }
  begun = { process: process.cpuUsage(), thread: process.threadCpuUsage() };
}

async function stop(profile: boolean): Promise<void> {
  const sum = ({ user, system }: NodeJS.CpuUsage): number => user + system;
  const measured: Measurement = {
    measured: true,
    processMicros: sum(process.cpuUsage(begun.process)),
    mainThreadMicros: sum(process.threadCpuUsage(begun.thread)),
    profilePath: null,
  };
  if (profile) {
    const stopped = await session.post('Profiler.stop');
    measured.profilePath = join(
      process.env.SWITCHYARD_DATA ?? '.',
      `steps-${process.hrtime.bigint()}.cpuprofile`,
    );
    writeFileSync(measured.profilePath, JSON.stringify(stopped.profile));
  }
  process.stdout.write(`${JSON.stringify(measured)}\n`);
}

process.on('message', ({ measure, profile }: MeasurementMessage) => {
  if (measure === 'start') void start(profile);
  else if (measure === 'stop') void stop(profile);
});

await runProcess();
