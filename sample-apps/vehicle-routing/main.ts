/**
 * Plans vehicle routes: reads the input as JSON on stdin and options as arguments, writes one JSON object on stdout
 * and progress on stderr. SIGTERM and SIGINT end the search early with the best plan so far. A wrong input or option
 * ends with exit code 1 and one sentence on stderr.
 */
import { text } from 'node:stream/consumers';
import { InputError } from './src/input/fields.ts';
import { buildOutput } from './src/output/output.ts';
import { ProgressLog } from './src/output/progress-log.ts';
import { prepareSearch } from './src/prepare-search.ts';
import { findMandatoryPenalty } from './src/search/model.ts';

/** Seconds of search between two looks at signals and the log. */
const slice = 0.05;

let stopped = '';

async function main(): Promise<void> {
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => (stopped = signal));
  const write = (line: string) => process.stderr.write(`${line}\n`);
  const { options, model, search } = prepareSearch(process.argv.slice(2), await text(process.stdin), seconds);
  const { problem } = model;
  write(
    `stops: ${problem.stops.length}, vehicles: ${problem.vehicles.length}, shipments: ${problem.shipments.length}`,
  );
  for (const stop of search.dropped)
    write(`initial stop "${problem.stops[stop].id}" does not fit where the input put it; it is planned anew`);
  const log = new ProgressLog(write, options['log.interval'], findMandatoryPenalty(model));
  log.update(search);
  for (let done = false; !done && !stopped; ) {
    done = search.run(slice);
    log.update(search);
    await new Promise((resolve) => setImmediate(resolve));
  }
  log.update(search, true);
  const ending = stopped ? `stopped by ${stopped}` : 'finished';
  write(
    `${ending}: ${search.iteration} iterations in ${search.elapsed().toFixed(2)} s, value ${Number(search.best.value.toPrecision(10))}`,
  );
  process.stdout.write(`${JSON.stringify(buildOutput(model, search, options, seconds()))}\n`);
}

main().catch((error: unknown) => {
  if (!(error instanceof InputError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
