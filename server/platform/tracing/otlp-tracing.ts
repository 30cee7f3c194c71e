/**
 * Exports spans by OTLP over HTTP. Only tracing.ts loads this file, and only with settings, because the libraries take
 * time to load.
 *
 * Spans wait in a queue of bounded length. While the receiver is down, the queue fills and further spans are dropped: no
 * request and no run waits for an export.
 */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import {
  createTraceState,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base';
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import { API_VERSION } from '@switchyard/contract/limits.ts';
import { ConfigError } from '../config-error.ts';
import { errorMessage } from '../log.ts';
import type { SamplerSettings, TracingSettings } from './settings.ts';
import { isSampled, type TraceContext } from './trace-context.ts';
import type { EndedSpan, Tracing, TracingParts } from './tracing.ts';

const CLOSE_TIMEOUT_MS = 2000;
/** A receiver that is down fails every batch; the log says so once in this time. */
const LOG_INTERVAL_MS = 60_000;

const SCOPE = { name: 'switchyard', version: API_VERSION };

/** Creates the exporter. Throws a ConfigError for a certificate or key that cannot be read. */
export function createOtlpTracing(settings: TracingSettings, parts: TracingParts): Tracing {
  const sampler = createSampler(settings.sampler);
  const resource = createResource(settings);
  const { batch } = settings;
  const processor = new BatchSpanProcessor({
    exporter: countExports(createExporter(settings), settings, parts),
    scheduledDelayMillis: batch.delayMs,
    maxQueueSize: batch.queueSize,
    maxExportBatchSize: batch.size,
    exportTimeoutMillis: batch.timeoutMs,
  });
  return {
    isSampled(traceId, parent) {
      const context = parent
        ? trace.setSpanContext(ROOT_CONTEXT, { ...toSpanContext(parent), isRemote: true })
        : ROOT_CONTEXT;
      const { decision } = sampler.shouldSample(context, traceId, '', SpanKind.INTERNAL, {}, []);
      return decision === SamplingDecision.RECORD_AND_SAMPLED;
    },
    record(span) {
      if (isSampled(span.context)) processor.onEnd(toReadableSpan(span, resource));
    },
    async close() {
      const timedOut = new Promise<void>((resolve) => {
        parts.clock.after(CLOSE_TIMEOUT_MS, resolve);
      });
      // A failed export is logged and counted already.
      await Promise.race([processor.shutdown().catch(() => {}), timedOut]);
    },
  };
}

function createExporter({ url, headers, timeoutMs, compression, tls }: TracingSettings): SpanExporter {
  const files = Object.fromEntries(Object.entries(tls).map(([name, path]) => [name, readPem(name, path)]));
  return new OTLPTraceExporter({
    url,
    headers,
    timeoutMillis: timeoutMs,
    compression: compression === 'gzip' ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE,
    httpAgentOptions: { keepAlive: true, ...files },
  });
}

const PEM_VARIABLES: Readonly<Record<string, string>> = {
  ca: 'OTEL_EXPORTER_OTLP_CERTIFICATE',
  cert: 'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
  key: 'OTEL_EXPORTER_OTLP_CLIENT_KEY',
};

function readPem(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError(
      `${PEM_VARIABLES[name]} is "${path}", which cannot be read: ${errorMessage(error)}. Give the path of a PEM file.`,
    );
  }
}

/** Counts exported and failed spans, and logs failures. */
function countExports(
  exporter: SpanExporter,
  { url }: TracingSettings,
  { clock, log, onExport }: TracingParts,
): SpanExporter {
  let loggedAt = Number.NEGATIVE_INFINITY;
  const { origin } = new URL(url);
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const isExported = result.code === ExportResultCode.SUCCESS;
        onExport(spans.length, isExported ? 'exported' : 'failed');
        if (!isExported && clock.elapsed() - loggedAt >= LOG_INTERVAL_MS) {
          loggedAt = clock.elapsed();
          // Without the path and the headers, which may hold a credential of the receiver.
          const fields = { receiver: origin, spans: spans.length, error: errorMessage(result.error) };
          log.warn(fields, 'Spans not exported; runs and requests are not affected.');
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

function createSampler({ ratio, isParentBased }: SamplerSettings): Sampler {
  const root = new TraceIdRatioBasedSampler(ratio);
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}

function createResource({ serviceName, resourceAttributes }: TracingSettings): Resource {
  return defaultResource().merge(
    resourceFromAttributes({
      'service.version': API_VERSION,
      'host.name': hostname(),
      'process.pid': process.pid,
      ...resourceAttributes,
      'service.name': serviceName,
    }),
  );
}

function toSpanContext({ traceId, spanId, flags, state }: TraceContext): SpanContext {
  return {
    traceId,
    spanId,
    traceFlags: flags,
    ...(state === '' ? {} : { traceState: createTraceState(state) }),
  };
}

type HrTime = ReadableSpan['startTime'];

/** Converts milliseconds to whole seconds and nanoseconds. */
function toHrTime(ms: number): HrTime {
  const micros = Math.round(ms * 1000);
  return [Math.floor(micros / 1e6), (micros % 1e6) * 1000];
}

function toReadableSpan(span: EndedSpan, resource: Resource): ReadableSpan {
  const context = toSpanContext(span.context);
  const endedAt = Math.max(span.startedAt, span.endedAt);
  return {
    name: span.name,
    kind: span.kind === 'server' ? SpanKind.SERVER : SpanKind.INTERNAL,
    spanContext: () => context,
    ...(span.parent ? { parentSpanContext: toSpanContext(span.parent) } : {}),
    startTime: toHrTime(span.startedAt),
    endTime: toHrTime(endedAt),
    duration: toHrTime(endedAt - span.startedAt),
    status: { code: span.isError ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: { ...span.attributes },
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}
