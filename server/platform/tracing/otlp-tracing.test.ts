/** The exporter of spans, below the server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { startOtlpReceiver } from '../../testing/http/otlp-receiver.ts';
import { createPair } from '../../testing/servers/certificates.ts';
import { systemClock } from '../clock.ts';
import { ConfigError } from '../config-error.ts';
import type { Log } from '../log.ts';
import { readTracingSettings } from './settings.ts';
import { type EndedSpan, openTracing, type Tracing } from './tracing.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-otlp-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SPAN: EndedSpan = {
  ...{ name: 'span', kind: 'internal', parent: null, startedAt: 1_800_000_000_000.25 },
  ...{ endedAt: 1_800_000_001_000.5, attributes: { text: 'a', whole: 1, half: 0.5, flag: true } },
  ...{ isError: false, context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), flags: 1, state: '' } },
};

interface Opened {
  tracing: Tracing;
  counts: Record<'exported' | 'failed', number>;
  /** The warnings of the log. */
  warnings: string[];
}

async function open(env: Record<string, string>): Promise<Opened> {
  const counts = { exported: 0, failed: 0 };
  const warnings: string[] = [];
  const ignore = (): void => {};
  const log: Log = {
    ...{ debug: ignore, info: ignore, error: ignore },
    warn: (fields, message) => warnings.push(`${message} ${JSON.stringify(fields)}`),
  };
  const tracing = await openTracing(
    readTracingSettings({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_BSP_SCHEDULE_DELAY: '1', ...env }),
    { clock: systemClock, log, onExport: (spans, result) => (counts[result] += spans) },
  );
  if (tracing === null) throw new Error('The settings open no exporter.');
  return { tracing, counts, warnings };
}

test('a span arrives over HTTPS as it was recorded, when the authority of the receiver is named', async () => {
  const pair = createPair();
  const authority = join(folder, 'authority.pem');
  writeFileSync(authority, pair.authority);
  const receiver = await startOtlpReceiver({ tls: pair });
  const { tracing, counts } = await open({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
    OTEL_EXPORTER_OTLP_CERTIFICATE: authority,
  });
  tracing.record(SPAN);
  await tracing.close();
  const { traceId, spanId } = SPAN.context;
  expect(receiver.spans).toMatchObject([
    { traceId, spanId, parentSpanId: '', name: 'span', attributes: SPAN.attributes, status: 0 },
  ]);
  expect(receiver.spans[0]?.startedAt).toBeCloseTo(SPAN.startedAt, 2);
  expect(receiver.spans[0]?.endedAt).toBeCloseTo(SPAN.endedAt, 2);
  expect(counts).toEqual({ exported: 1, failed: 0 });
  await receiver.close();
});

test('a receiver that is not trusted gets no spans, and the log says so once, without credentials', async () => {
  const receiver = await startOtlpReceiver({ tls: createPair() });
  const { tracing, counts, warnings } = await open({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.endpoint}/secret-path`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret-token',
    OTEL_EXPORTER_OTLP_TIMEOUT: '100',
  });
  for (let batch = 1; batch <= 2; batch += 1) {
    tracing.record(SPAN);
    await waitUntil(`batch ${batch} has failed`, () => counts.failed === batch);
  }
  await tracing.close();
  expect(receiver.bodies).toEqual([]);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain(`"receiver":"${receiver.endpoint}"`);
  expect(warnings[0]).not.toContain('secret');
  await receiver.close();
});

test('the samplers decide by the trace, or by the caller', async () => {
  const low = `${'0'.repeat(31)}1`;
  const high = 'f'.repeat(24) + '0'.repeat(8);
  const caller = (flags: number) => ({ ...SPAN.context, traceId: low, flags });
  const decide = async (sampler: string, argument = '') => {
    const { tracing } = await open({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: argument });
    const decisions = [
      tracing.isSampled(low, null),
      tracing.isSampled(high, null),
      tracing.isSampled(low, caller(0)),
      tracing.isSampled(low, caller(1)),
    ];
    await tracing.close();
    return decisions;
  };
  expect(await decide('parentbased_always_on')).toEqual([true, true, false, true]);
  expect(await decide('parentbased_always_off')).toEqual([false, false, false, true]);
  expect(await decide('always_on')).toEqual([true, true, true, true]);
  expect(await decide('always_off')).toEqual([false, false, false, false]);
  expect(await decide('traceidratio', '0.5')).toEqual([true, false, true, true]);
  expect(await decide('parentbased_traceidratio', '0.5')).toEqual([true, false, false, true]);
});

test('a certificate that cannot be read ends the start', async () => {
  const opening = open({ OTEL_EXPORTER_OTLP_CERTIFICATE: join(folder, 'missing.pem') });
  await expect(opening).rejects.toThrow(ConfigError);
  await expect(opening).rejects.toThrow(/^OTEL_EXPORTER_OTLP_CERTIFICATE is ".*missing\.pem"/);
});
