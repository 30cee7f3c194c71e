import { buildCodeSamples, type SampleOptions } from '../model/operation/code-samples.ts';
import {
  describeMissingDocument,
  getOperationTitle,
  type Operation as OperationData,
  readOperation,
} from '../model/operation/read-operation.ts';
import { formatAnchorHref } from '../model/schema/anchor-href.ts';
import { Faults } from './field-list.tsx';
import { Markdown } from './markdown.tsx';
import { OperationCodes, OperationFields } from './operation-details.tsx';

export type OperationProps = SampleOptions & {
  /** The parsed documents by name. */
  specs: Readonly<Record<string, unknown>>;
  /** The name of a document in `specs`. */
  spec?: string | undefined;
  method: string;
  path: string;
  /** The level of the operation's heading. */
  level?: 2 | 3;
};

/** One operation of an OpenAPI 3.0 document, or a sentence when the document or the operation does not exist. */
export function Operation({ specs, spec, method, path, level, ...options }: OperationProps) {
  const name = spec?.trim() ?? '';
  const missing = describeMissingDocument(specs, name);
  if (missing !== undefined) return <p className="api-message">{missing}</p>;
  const operation = readOperation(specs[name], method, path);
  if (!operation) {
    return (
      <p className="api-message">
        The API has no operation{' '}
        <code>
          {method.toUpperCase()} {path}
        </code>
        .
      </p>
    );
  }
  return <OperationView operation={operation} samples={buildCodeSamples(operation, options)} level={level} />;
}

type ViewProps = {
  operation: OperationData;
  samples: ReturnType<typeof buildCodeSamples>;
  level?: 2 | 3 | undefined;
};

/** One operation that `readOperation` returned: its words, and the request and the responses that a wide page puts beside them. */
export function OperationView({ operation, samples, level = 3 }: ViewProps) {
  const { id, method, path, description, deprecated, faults } = operation;
  const Title = level === 2 ? 'h2' : 'h3';
  const heading = level === 2 ? 'h3' : 'h4';
  const title = getOperationTitle(operation);
  return (
    <section className="api">
      <div className="api-words">
        <Title id={id}>
          {title}{' '}
          <a className="api-permalink" href={formatAnchorHref(id)} aria-label={`Link to “${title}”`}>
            #
          </a>
        </Title>
        <p className="api-route">
          <b>{method}</b> <code>{path}</code>
          {deprecated && <span className="api-flag"> deprecated</span>}
        </p>
        <Markdown text={description} />
        <Faults faults={faults} />
        <OperationFields operation={operation} heading={heading} />
      </div>
      <div className="api-codes">
        <OperationCodes operation={operation} samples={samples} heading={heading} />
      </div>
    </section>
  );
}
