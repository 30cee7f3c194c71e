import { renderToStaticMarkup } from 'react-dom/server';
import { OperationView } from '../components/operation.tsx';
import { buildCodeSamples } from '../model/operation/code-samples.ts';
import { readOperation } from '../model/operation/read-operation.ts';
import { createPageState } from '../model/schema/field.ts';

/** Renders an operation as HTML and counts its anchors. Throws when the document has no such operation. */
export function renderOperation(document: unknown, method: string, path: string) {
  const page = createPageState();
  const operation = readOperation(document, method, path, { page });
  if (!operation) throw new Error(`The document has no operation ${method} ${path}.`);
  const html = renderToStaticMarkup(
    <OperationView operation={operation} samples={buildCodeSamples(operation)} />,
  );
  return { html, anchors: page.anchors.size };
}
