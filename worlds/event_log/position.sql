CREATE SEQUENCE IF NOT EXISTS worlds_event_position
;;
CREATE OR REPLACE FUNCTION memory37_event_position() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Held until the transaction has ended. Nothing else is waited for under this lock, so two
  -- transactions cannot wait for each other.
  PERFORM pg_advisory_xact_lock(hashtextextended(NEW.world_id::text, 37));
  UPDATE worlds_event SET position = nextval('worlds_event_position') WHERE id = NEW.id;
  RETURN NULL;
END $$
;;
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'memory37_event_position') THEN
    CREATE CONSTRAINT TRIGGER memory37_event_position AFTER INSERT ON worlds_event
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION memory37_event_position();
  END IF;
END $$
