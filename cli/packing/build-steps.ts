/**
 * The commands of a manifest that run before the app is packed, as the published client runs them. First comes `build`,
 * without a shell and with its environment, then `pre-push` in a shell. Both run in the folder of the app.
 */
import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import type { Manifest } from '@switchyard/contract/applications/manifest/manifest.ts';
import { formatArchitecture, formatTarget, type Target } from './target.ts';

/** Of the output of a command that failed, the error has the end. */
const ERROR_OUTPUT_CHARS_MAX = 8_000;

export type ReportLine = (line: string) => void;

/** Throws with the output of the command that fails. */
export async function runBuildSteps(
  folder: string,
  { build, 'pre-push': prePush }: Manifest,
  target: Target,
  report: ReportLine,
): Promise<void> {
  if (build?.command) {
    report(`Running build.command: ${build.command}`);
    const command = build.command.split(' ').filter(Boolean);
    const variables = retarget(build.environment ?? {}, target, report);
    await runStep('build.command', command, { cwd: folder, variables, report });
  }
  if (prePush) {
    report(`Running pre-push: ${prePush}`);
    const variables = { SWITCHYARD_TARGET: formatTarget(target) };
    await runStep('pre-push', ['sh', '-c', prePush], { cwd: folder, variables, report });
  }
}

/**
 * Published manifests name the architecture of the commercial service, for example `GOARCH: arm64`. The program has to
 * run on the server that it is pushed to.
 */
function retarget(
  environment: Record<string, string | number | boolean>,
  target: Target,
  report: ReportLine,
): Record<string, string> {
  const wanted: Record<string, string> = { GOOS: target.platform, GOARCH: formatArchitecture(target) };
  const variables: Record<string, string> = { SWITCHYARD_TARGET: formatTarget(target) };
  for (const [name, value] of Object.entries(environment)) {
    variables[name] = wanted[name] ?? String(value);
    if (variables[name] !== String(value))
      report(
        `build.environment sets ${name} to ${value}; the server runs ${formatTarget(target)}, so ${variables[name]} is used.`,
      );
  }
  return variables;
}

/** Advice of Maven, which comes after the reason. */
const MAVEN_ADVICE =
  /^\[ERROR\] *(?:$|-> \[Help|\[Help|To see the full stack|Re-run Maven|For more information|After correcting|mvn <)/;

/** Returns the output without colours, so that its last line is the reason of a failure. */
function cleanOutput(output: string): string {
  const lines = stripVTControlCharacters(output).split('\n');
  return lines
    .filter((line) => !MAVEN_ADVICE.test(line))
    .join('\n')
    .trim();
}

/** Runs one build command of the manifest; `field` names it in the error. */
async function runStep(
  field: string,
  [command = '', ...args]: string[],
  { cwd, variables, report }: { cwd: string; variables: Record<string, string>; report: ReportLine },
): Promise<void> {
  const chunks: string[] = [];
  const ended = await new Promise<string>((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('close', (code, signal) =>
      resolve(code === 0 ? '' : `ended with ${signal ?? `exit code ${code}`}`),
    );
  });
  const output = cleanOutput(chunks.join(''));
  if (ended !== '') {
    const formatted =
      output.length > ERROR_OUTPUT_CHARS_MAX ? `…${output.slice(-ERROR_OUTPUT_CHARS_MAX)}` : output;
    throw new Error(
      `${field} of app.yaml ${ended}; nothing was pushed.${formatted === '' ? '' : ` Its output:\n${formatted}`}`,
    );
  }
  if (output !== '') report(output);
}
