import type { CodeSample } from '../model/operation/code-samples.ts';
import { PARAMETER_LOCATIONS, type Parameter } from '../model/operation/parameters.ts';
import type { Operation } from '../model/operation/read-operation.ts';
import type {
  Callback,
  Content,
  Example,
  RequestBody,
  Response,
} from '../model/operation/request-and-responses.ts';
import type { SecurityRequirement } from '../model/operation/security.ts';
import { formatAnchorHref } from '../model/schema/anchor-href.ts';
import {
  Facts,
  Faults,
  FieldBody,
  FieldGroups,
  FieldList,
  FieldTypeLabel,
  RawBlockList,
} from './field-list.tsx';
import { Code, Tabs } from './host.tsx';
import { formatSingleLine, Markdown } from './markdown.tsx';

type Heading = 'h3' | 'h4' | 'h5';

const LOCATION_TITLES = {
  path: 'Path parameters',
  query: 'Query parameters',
  header: 'Header parameters',
  cookie: 'Cookie parameters',
  other: 'Other parameters',
} as const;

/** The fields of an operation: credentials, parameters, body, responses and callbacks. */
export function OperationFields({ operation, heading: Title }: { operation: Operation; heading: Heading }) {
  const { facts, security, servers, parameters, body, responses, callbacks, blocks } = operation;
  return (
    <>
      <Facts facts={facts} />
      <Security requirements={security} />
      <Servers servers={servers} />
      <Parameters parameters={parameters} heading={Title} />
      {body && <BodyPart body={body} heading={Title} />}
      {responses.length > 0 && <Title>Responses</Title>}
      {responses.map((response) => (
        <ResponsePart key={response.id} response={response} />
      ))}
      {callbacks.length > 0 && <Title>Callbacks</Title>}
      {callbacks.map((callback) => (
        <CallbackPart key={callback.id} callback={callback} heading={Title} />
      ))}
      <RawBlockList blocks={blocks} />
    </>
  );
}

type CodesProps = { operation: Operation; samples: readonly CodeSample[]; heading: Heading };

/** The code of an operation: a request in each language, and an example of each response that has one. */
export function OperationCodes({ operation: { id, responses }, samples, heading: Title }: CodesProps) {
  const answers = responses.flatMap(({ status, contents }) => {
    const examples = contents.flatMap((content) => content.examples);
    return examples.length === 0 ? [] : [{ label: status, content: <Examples examples={examples} /> }];
  });
  return (
    <>
      <Title>Request</Title>
      <Tabs
        group="api-language"
        id={`${id}-samples`}
        panels={samples.map(({ label, language, code }) => ({
          label,
          content: <Code language={language} code={code} />,
        }))}
      />
      {answers.length > 0 && (
        <>
          <Title>Response</Title>
          <Tabs group={`${id}-response`} id={`${id}-response`} panels={answers} />
        </>
      )}
    </>
  );
}

function Parameters({ parameters, heading: Title }: { parameters: readonly Parameter[]; heading: Heading }) {
  return [...PARAMETER_LOCATIONS, 'other' as const].map((location) => {
    const fields = parameters.filter((parameter) => parameter.in === location).map(({ field }) => field);
    if (fields.length === 0) return null;
    return (
      <div key={location}>
        <Title>{LOCATION_TITLES[location]}</Title>
        <FieldList fields={fields} />
      </div>
    );
  });
}

/** A request that the API makes, and the responses it expects. */
function CallbackPart({ callback, heading }: { callback: Callback; heading: Heading }) {
  const { id, name, method, address, description, parameters, body, responses, blocks, faults } = callback;
  const Title = heading === 'h3' ? 'h4' : 'h5';
  return (
    <details className="api-response" id={id}>
      <summary>
        <code>{name}</code> {method} <code>{address}</code>
      </summary>
      <Markdown text={description} />
      <Faults faults={faults} />
      <Parameters parameters={parameters} heading={Title} />
      {body && <BodyPart body={body} heading={Title} isInPlace />}
      {responses.length > 0 && <Title>Expected responses</Title>}
      {responses.map((response) => (
        <ResponsePart key={response.id} response={response} isInPlace />
      ))}
      <RawBlockList blocks={blocks} />
    </details>
  );
}

function Security({ requirements }: { requirements: readonly SecurityRequirement[] }) {
  if (requirements.length === 0) return null;
  const words = requirements.map((requirement) =>
    requirement.length === 0
      ? 'nothing'
      : requirement
          .map(({ label, scopes }) => (scopes.length === 0 ? label : `${label} for ${scopes.join(', ')}`))
          .join(' and '),
  );
  const descriptions = new Set(requirements.flat().map(({ description }) => description));
  return (
    <>
      <p className="api-fact">Needs: {words.join(', or ')}</p>
      {[...descriptions].map((description) => (
        <Markdown key={description} text={description} />
      ))}
    </>
  );
}

/** A single server with a relative address is left out: it is the server of the document. */
function Servers({ servers }: { servers: Operation['servers'] }) {
  const [first, ...others] = servers;
  if (others.length === 0 && first?.url.startsWith('/') && first.blocks.length === 0) return null;
  return servers.map(({ url, description, blocks }, index) => (
    <div key={`${url}${index}`}>
      <p className="api-fact">
        Server: <code>{url}</code>
      </p>
      <Markdown text={description} />
      <RawBlockList blocks={blocks} />
    </div>
  ));
}

/** `isInPlace` when no code stands beside the fields, so all examples stand among them. */
function BodyPart({
  body,
  heading: Title,
  isInPlace = false,
}: {
  body: RequestBody;
  heading: Heading;
  isInPlace?: boolean;
}) {
  const { required, description, contents, blocks, faults } = body;
  return (
    <>
      <Title>Body {required && <span className="api-required">required</span>}</Title>
      <Markdown text={description} />
      <Faults faults={faults} />
      {contents.map((content, index) => (
        <ContentPart
          key={content.mediaType}
          content={content}
          examples={content.examples.slice(
            !isInPlace && index === 0 && isPlainJson(content.examples[0]) ? 1 : 0,
          )}
        />
      ))}
      <RawBlockList blocks={blocks} />
    </>
  );
}

function isPlainJson(example: Example | undefined): boolean {
  return example?.language === 'json' && example.title === '' && example.description === '';
}

function Examples({ examples }: { examples: readonly Example[] }) {
  return examples.map(({ title, description, language, text }, index) => (
    <div key={`${title}${index}`}>
      <Markdown text={description} />
      <Code language={language} code={text} {...(title !== '' && { caption: `Example: ${title}` })} />
    </div>
  ));
}

/** The fields of a body in one media type, after those of its examples that stand nowhere else. */
function ContentPart({ content, examples = [] }: { content: Content; examples?: readonly Example[] }) {
  const { mediaType, field, blocks } = content;
  return (
    <div className="api-content" id={field.id}>
      <p className="api-line">
        <code>{mediaType}</code> <FieldTypeLabel field={field} /> {field.schema}
      </p>
      <Examples examples={examples} />
      <FieldBody field={field} />
      <FieldGroups groups={field.groups} />
      <RawBlockList blocks={blocks} />
    </div>
  );
}

function ResponsePart({ response, isInPlace = false }: { response: Response; isInPlace?: boolean }) {
  const { id, status, description, headers, contents, links, blocks, faults, unfoldedAt } = response;
  const line = formatSingleLine(description);
  return (
    <details className="api-response" id={id}>
      <summary>
        <code>{status}</code> {line}
      </summary>
      {line === undefined && <Markdown text={description} />}
      {unfoldedAt && (
        <p className="api-fact">
          The same response as <a href={formatAnchorHref(unfoldedAt.id)}>{unfoldedAt.label}</a>.
        </p>
      )}
      <Faults faults={faults} />
      {contents.map((content) => (
        <ContentPart key={content.mediaType} content={content} examples={isInPlace ? content.examples : []} />
      ))}
      {headers.length > 0 && (
        <>
          <p className="api-label">Headers</p>
          <FieldList fields={headers} />
        </>
      )}
      {links.length > 0 && (
        <>
          <p className="api-label">Links</p>
          <FieldList fields={links} />
        </>
      )}
      <RawBlockList blocks={blocks} />
    </details>
  );
}
