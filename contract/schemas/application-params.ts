/** The path parameter that every operation inside an application has. */
import Type from 'typebox';
import { type ApplicationId, idSchema } from './ids.ts';

export const ApplicationParams = Type.Object({
  application_id: idSchema<ApplicationId>('Id of the application.'),
});
