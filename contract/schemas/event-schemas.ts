/** Schemas of server-sent events. */
import Type from 'typebox';
import { stringEnum } from './field-schemas.ts';
import { isRecord } from './is-record.ts';

/** The header by which a client continues a stream. */
export const ResumeHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      description: 'The `id` of the last event that you received. The stream continues after it.',
    }),
  ),
});

/** Returns the schema of one kind of event: its name and its data, which is sent as JSON text. */
export function eventSchema<const Name extends string, Data extends Parameters<typeof Type.Object>[0]>(
  name: Name,
  data: Data,
  description: string,
) {
  return Type.Object(
    {
      id: Type.Optional(Type.String({ description: 'Position in the stream, for `Last-Event-ID`.' })),
      event: stringEnum([name], 'Name of the event.'),
      data: Type.String({ description: describeData(data) }),
    },
    { description },
  );
}

/** Describes the object in the JSON text: OpenAPI 3.0.3 has no keyword for the schema of a text. */
function describeData(data: Record<string, unknown>): string {
  const fields = Object.entries(data).map(([name, schema]) => {
    const { description, items } = isRecord(schema) ? schema : {};
    const names = isRecord(items) && isRecord(items.properties) ? Object.keys(items.properties) : [];
    const list = names.map((one) => `\`${one}\``).join(', ');
    return `- \`${name}\`: ${description}${list && ` Each has ${list}.`}`;
  });
  return fields.length === 0
    ? 'JSON text of an empty object.'
    : `JSON text of an object with these fields:\n\n${fields.join('\n')}`;
}

/** The event that asks a client to connect again. */
export const ResyncEvent = eventSchema(
  'resync',
  { reason: Type.String({ description: 'The reason, for people.' }) },
  'The stream ends here. Connect again, with the id of the last event.',
);
