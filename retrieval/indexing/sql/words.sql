-- How text becomes words. Installed after every `migrate` (retrieval/indexing/install.py). A change of these functions has the
-- words of all stored passages computed again by the worker (retrieval/indexing/stored_words.py).

-- The text search configuration of a language. PostgreSQL's `russian` stems ASCII words as English and all others as
-- Russian, so one configuration serves both, and English terms inside Korean, Japanese and Chinese text besides.
CREATE OR REPLACE FUNCTION memory37_configuration(language text) RETURNS regconfig
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE split_part(lower(language), '-', 1)
    WHEN 'en' THEN 'pg_catalog.russian'::regconfig
    WHEN 'ru' THEN 'pg_catalog.russian'::regconfig
    WHEN 'ko' THEN 'pg_catalog.russian'::regconfig
    WHEN 'ja' THEN 'pg_catalog.russian'::regconfig
    WHEN 'zh' THEN 'pg_catalog.russian'::regconfig
    WHEN '' THEN 'pg_catalog.russian'::regconfig
    WHEN 'ar' THEN 'pg_catalog.arabic'::regconfig
    WHEN 'hy' THEN 'pg_catalog.armenian'::regconfig
    WHEN 'eu' THEN 'pg_catalog.basque'::regconfig
    WHEN 'ca' THEN 'pg_catalog.catalan'::regconfig
    WHEN 'da' THEN 'pg_catalog.danish'::regconfig
    WHEN 'nl' THEN 'pg_catalog.dutch'::regconfig
    WHEN 'fi' THEN 'pg_catalog.finnish'::regconfig
    WHEN 'fr' THEN 'pg_catalog.french'::regconfig
    WHEN 'de' THEN 'pg_catalog.german'::regconfig
    WHEN 'el' THEN 'pg_catalog.greek'::regconfig
    WHEN 'hi' THEN 'pg_catalog.hindi'::regconfig
    WHEN 'hu' THEN 'pg_catalog.hungarian'::regconfig
    WHEN 'id' THEN 'pg_catalog.indonesian'::regconfig
    WHEN 'ga' THEN 'pg_catalog.irish'::regconfig
    WHEN 'it' THEN 'pg_catalog.italian'::regconfig
    WHEN 'lt' THEN 'pg_catalog.lithuanian'::regconfig
    WHEN 'ne' THEN 'pg_catalog.nepali'::regconfig
    WHEN 'no' THEN 'pg_catalog.norwegian'::regconfig
    WHEN 'nb' THEN 'pg_catalog.norwegian'::regconfig
    WHEN 'pt' THEN 'pg_catalog.portuguese'::regconfig
    WHEN 'ro' THEN 'pg_catalog.romanian'::regconfig
    WHEN 'sr' THEN 'pg_catalog.serbian'::regconfig
    WHEN 'es' THEN 'pg_catalog.spanish'::regconfig
    WHEN 'sv' THEN 'pg_catalog.swedish'::regconfig
    WHEN 'ta' THEN 'pg_catalog.tamil'::regconfig
    WHEN 'tr' THEN 'pg_catalog.turkish'::regconfig
    WHEN 'yi' THEN 'pg_catalog.yiddish'::regconfig
    ELSE 'pg_catalog.simple'::regconfig
  END
$$;

-- Without accents, but й stays й (U+0306 is kept): a name is found however it was typed.
CREATE OR REPLACE FUNCTION memory37_fold(content text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT normalize(regexp_replace(normalize(content, NFD), '[\u0300-\u0305\u0307-\u036f]', '', 'g'), NFC)
$$;

-- Pairs of neighbouring characters of scripts that PostgreSQL cannot stem or cut into words: kana, Han, Hangul, Thai.
CREATE OR REPLACE FUNCTION memory37_bigrams(content text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT string_agg(
    CASE WHEN length(run[1]) = 1 THEN run[1]
    ELSE (SELECT string_agg(substr(run[1], i, 2), ' ') FROM generate_series(1, length(run[1]) - 1) AS i) END, ' ')
  FROM regexp_matches(content, '[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+', 'g') AS run
$$;

-- A Korean word without its last particle or ending, if two syllables are left.
CREATE OR REPLACE FUNCTION memory37_korean_stem(word text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT regexp_replace(word, '^(.{2,}?)('
    '하였습니다|되었습니다|했습니다|습니다|습니까|입니다|입니까|합니다|됩니다|이라는|이라고|에서는|에서의|에게는|으로는|에서|에게|으로|라고|까지|부터|처럼|보다|에는|에도'
    '|하는|하고|하여|하며|하기|하면|했다|한다|되는|된다|되어|이다|이며|이고|들은|들이|들을|들의'
    '|은|는|이|가|을|를|의|에|로|와|과|도|만|한|된|할|될|해|들)$', '\1')
$$;

-- What a Korean text is found by, beside the stem of each word (marked ㅡ): its first two syllables (marked ㅗ), because
-- compounds begin with what they are about, and pairs of neighbouring syllables, because compounds are written as one word.
CREATE OR REPLACE FUNCTION memory37_korean_words(content text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT string_agg(concat_ws(' ', 'ㅡ' || stem, 'ㅗ' || left(stem, 2), memory37_bigrams(stem)), ' ')
  FROM (
    SELECT memory37_korean_stem(run[1]) AS stem FROM regexp_matches(content, '[\uac00-\ud7a3]+', 'g') AS run
  ) AS korean
$$;

-- Numbers that a text means without writing their digits in a row: `1 500` is 1500, and `84–99` holds every year of the
-- range. NULL if there are none.
CREATE OR REPLACE FUNCTION memory37_meant_numbers(content text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_agg(DISTINCT number) FROM (
    (SELECT regexp_replace(found[1], '\D', '', 'g') AS number
    FROM regexp_matches(
      content, '(?<![\d.,])(\d{1,3}(?:[ \u00a0\u202f]\d{3})+)(?![\d.,]?\d)', 'g') AS found
    LIMIT 500)
    UNION ALL
    (SELECT year::text
    FROM regexp_matches(
      content,
      '(?<![\d.,/])([1-9]\d{1,3})(?:년)?\s?(?:[-–—~]|to|until|till|по|до|부터)\s?([1-9]\d{1,3})(?![\d.,/]?\d)',
      'g') AS ends,
    generate_series(ends[1]::integer, ends[2]::integer) AS year
    WHERE ends[2]::integer - ends[1]::integer BETWEEN 2 AND 200
    LIMIT 2000)
  ) AS meant
$$;

-- The words of a text: the one function for passages and for questions.
CREATE OR REPLACE FUNCTION memory37_words(language text, content text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  unstemmed CONSTANT text := '[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+';
  is_ascii CONSTANT boolean := octet_length(content) = length(content);
  folded text := left(content, 200000);
  words tsvector;
BEGIN
  IF NOT is_ascii THEN  -- of ASCII, folding and the two searches cost more than the rest
    folded := memory37_fold(folded);
  END IF;
  folded := regexp_replace(folded, '(?<=\d),(?=\d{3}(?!\d))', '', 'g');  -- 1,500 is one word, as 1500 is
  IF is_ascii OR folded !~ unstemmed THEN
    words := to_tsvector(memory37_configuration(language), folded);
  ELSE
    words := to_tsvector(memory37_configuration(language), regexp_replace(folded, unstemmed, ' ', 'g'))
      || to_tsvector('pg_catalog.simple', concat_ws(' ',
        memory37_korean_words(folded), memory37_bigrams(regexp_replace(folded, '[\uac00-\ud7a3]+', ' ', 'g'))));
  END IF;
  IF folded ~ '\d\D{1,8}\d' THEN
    -- Without positions: they are found, and make the passage no longer.
    words := words || coalesce(array_to_tsvector(memory37_meant_numbers(folded)), '');
  END IF;
  RETURN words;
END
$$;

-- The words of a text, each counted several times: cut into words once, which is what costs.
CREATE OR REPLACE FUNCTION memory37_words_times(language text, content text, times integer) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  once tsvector;
  words tsvector := '';
BEGIN
  IF content = '' THEN
    RETURN words;
  END IF;
  once := memory37_words(language, left(content, 200000 / greatest(times, 1)));
  FOR i IN 1 .. times LOOP
    words := words || once;
  END LOOP;
  RETURN words;
END
$$;

-- How many words a tsvector stands for, repetitions included.
CREATE OR REPLACE FUNCTION memory37_word_count(words tsvector) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(sum(cardinality(positions)), 0)::integer FROM unnest(words)
$$;

-- The search vector of a passage.
CREATE OR REPLACE FUNCTION memory37_search_vector(
  language text, context text, content text, surroundings text, context_times integer, text_times integer
) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT memory37_words_times(language, context, context_times)
    || memory37_words_times(language, content, text_times)
    || memory37_words_times(language, surroundings, 1)
$$;

-- Before a passage is written: words follow text, and `rev` grows with it, whoever writes. Setting `search_vector` to
-- NULL has the words rebuilt (reindex). TG_ARGV: how often a word of the context and of the text counts against one of
-- the surroundings. New surroundings change the words only; the vector is of context and text.
CREATE OR REPLACE FUNCTION memory37_passage() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    NEW.rev := OLD.rev;
    IF (NEW.text, NEW.context, NEW.language) IS DISTINCT FROM (OLD.text, OLD.context, OLD.language) THEN
      NEW.rev := OLD.rev + 1;
      NEW.updated_at := clock_timestamp();
      NEW.embed_tries := 0;
      NEW.embed_after := NULL;
      NEW.embed_error := '';
    ELSIF NEW.search_vector IS NOT NULL AND NEW.surroundings = OLD.surroundings THEN
      NEW.search_vector := OLD.search_vector;
      NEW.word_count := OLD.word_count;
      RETURN NEW;
    END IF;
  END IF;
  NEW.search_vector := memory37_search_vector(
    NEW.language, NEW.context, NEW.text, NEW.surroundings, TG_ARGV[0]::integer, TG_ARGV[1]::integer);
  NEW.word_count := memory37_word_count(NEW.search_vector);
  RETURN NEW;
END
$$;
