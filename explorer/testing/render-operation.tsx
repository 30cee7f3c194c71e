import { renderToStaticMarkup } from 'react-dom/server';
import { OperationView } from '../components/operation.tsx';
import { buildCodeSamples } from '../model/operation/code-samples.ts';
import { readOperation } from '../model/operation/read-operation.ts';
import { createPageState } from '../model/schema/field.ts';

/** An operation as HTML, with the number of its anchors. Throws when the document has none of that name. */
export function renderOperation(document: unknown, method: string, path: string) {
  const page = createPageState();
  const operation = readOperation(document, method, path, { page });
  if (!operation) throw new Error(`The document has no operation ${method} ${path}.`);
  const html = renderToStaticMarkup(
    <OperationView operation={operation} samples={buildCodeSamples(operation)} />,
  );
  return { html, anchors: page.anchors.size };
}
