-- How words are scored, and what goes with a deleted passage. Installed with `words.sql`.

-- A word as a query of its own, taken as it is.
CREATE OR REPLACE FUNCTION memory37_quoted(word text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT '''' || replace(replace(word, '\', '\\'), '''', '''''') || ''''
$$;

-- BM25 of one passage (k1, b as Lucene). `ts_rank` of one word is 0.1 · (1 + 1/4 + … + 1/tf²) / (π²/6); the tail of that
-- series is 1 / (tf + 1/2) within half a percent, so the rank tells tf, and rounding makes it exact. Few statements, because
-- each costs as much as the arithmetic in it.
CREATE OR REPLACE FUNCTION memory37_bm25(
  words tsvector, word_count integer, terms tsquery[], idf float8[], average float8, k1 float8, b float8
) RETURNS float8
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  norm CONSTANT float8 := k1 * (1 - b + b * coalesce(word_count / nullif(average, 0), 1));
  score float8 := 0;
  rank float8;
BEGIN
  FOR i IN 1 .. coalesce(cardinality(terms), 0) LOOP
    rank := ts_rank(words, terms[i]);
    CONTINUE WHEN rank = 0;
    score := score + idf[i] / (1 + norm / round(1 / (1.6449340668 - 16.449340668 * least(rank, 0.0998)) - 0.5));
  END LOOP;
  RETURN score;
END
$$;

-- After passages are deleted: the cached vectors of their texts go too, and those that were computed for a switch of the
-- model. A vector tells of its text. One that another passage still needs is in its row, the cache only saves computing
-- it again. In the order of hashes, as vectors are stored, so that two deletions of the same texts do not deadlock.
CREATE OR REPLACE FUNCTION memory37_forget_vectors() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM retrieval_cachedvector WHERE id IN (
    SELECT cached.id FROM retrieval_cachedvector AS cached WHERE cached.text_hash IN (
      SELECT encode(sha256(convert_to(CASE WHEN context = '' THEN text ELSE context || E'\n' || text END, 'UTF8')), 'hex')
      FROM deleted_passages
    ) ORDER BY cached.text_hash FOR UPDATE
  );
  DELETE FROM retrieval_stagedvector
  WHERE domain = TG_ARGV[0] AND passage_id IN (SELECT id FROM deleted_passages);
  RETURN NULL;
END
$$;
