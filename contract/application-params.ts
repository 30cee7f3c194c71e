/** The path parameter that every operation inside an application has. */
import Type from 'typebox';
import { type ApplicationId, someId } from './ids.ts';

export const ApplicationParams = Type.Object({
  application_id: someId<ApplicationId>('Id of the application.'),
});
