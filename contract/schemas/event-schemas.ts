/** Schemas of server-sent events. */
import Type from 'typebox';
import { stringEnum } from './field-schemas.ts';

/** The header by which a client continues a stream. */
export const ResumeHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      description: 'The `id` of the last event that you received. The stream continues after it.',
    }),
  ),
});

/** Returns the schema of one kind of event: its name and its data. */
export function eventSchema<const Name extends string, Data extends Parameters<typeof Type.Object>[0]>(
  name: Name,
  data: Data,
  description: string,
) {
  return Type.Object(
    {
      id: Type.Optional(Type.String({ description: 'Position in the stream, for `Last-Event-ID`.' })),
      event: stringEnum([name], 'Name of the event.'),
      data: Type.Object(data),
    },
    { description },
  );
}

/** The event that asks a client to connect again. */
export const ResyncEvent = eventSchema(
  'resync',
  { reason: Type.String({ description: 'The reason, for people.' }) },
  'The stream ends here. Connect again, with the id of the last event.',
);
