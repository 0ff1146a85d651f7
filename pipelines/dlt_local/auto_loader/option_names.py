"""The names of Auto Loader's options: which are read, which have no effect on a local folder, which are refused.

From https://docs.databricks.com/ingestion/cloud-object-storage/auto-loader/options.html
"""

FORMATS = {each.lower(): each for each in ("json", "csv", "parquet", "avro", "text", "binaryFile")}
"""The formats that are read, by their names in lower case."""
REFUSED_FORMATS = {
    "orc": "Auto Loader infers no schema of ORC files; read the folder with spark.readStream.schema(...).orc(...)",
    "xml": "rescued data of XML is not done here; read the folder with spark.readStream.schema(...).xml(...)",
}

_READ = (
    "cloudFiles.format",
    "cloudFiles.schemaLocation",
    "cloudFiles.inferColumnTypes",
    "cloudFiles.schemaHints",
    "cloudFiles.schemaEvolutionMode",
    "cloudFiles.rescuedDataColumn",
    "cloudFiles.partitionColumns",
    "cloudFiles.includeExistingFiles",
    "cloudFiles.maxFilesPerTrigger",
    "cloudFiles.maxBytesPerTrigger",
    "maxFilesPerTrigger",
    "maxBytesPerTrigger",
    "path",
    "rescuedDataColumn",
    "pathGlobFilter",
    "fileNamePattern",
    "recursiveFileLookup",
)
READ = {name.lower(): name for name in _READ}
"""The options that `options.parse` reads, by their names in lower case."""

CLOUD = "it is of a cloud's storage, and the folder is local"
_LISTED = "files are found by listing the folder"
NO_EFFECT = {
    "cloudfiles.usenotifications": _LISTED,
    "cloudfiles.useincrementallisting": _LISTED,
    "cloudfiles.usemanagedfileevents": _LISTED,
    "cloudfiles.listonstart": _LISTED,
    "cloudfiles.backfillinterval": "every update lists the whole folder",
    "cloudfiles.fetchparallelism": _LISTED,
    "cloudfiles.maxfileage": "no file is forgotten, however old",
    "cloudfiles.validateoptions": "with `false`, unknown options are only noticed",
    "cloudfiles.usestrictglobber": "the path is matched as Spark does",
    "cloudfiles.pathrewrites": CLOUD,
    "usestrictglobber": "the path is matched as Spark does",
    "cloudfiles.inferschema": "it is no option of Auto Loader; cloudFiles.inferColumnTypes is",
    "inferschema": "cloudFiles.inferColumnTypes decides on it",
    "mergeschema": "the schemas of all files are merged",
    "enforceschema": "columns are found by the names in each file's header",
    **{
        f"cloudfiles.{name}": CLOUD
        for name in (
            *("region", "queueurl", "awsaccesskey", "awssecretkey", "rolearn", "roleexternalid", "rolesessionname"),
            *("stsendpoint", "connectionstring", "resourcegroup", "subscriptionid", "tenantid", "clientid"),
            *("clientsecret", "queuename", "projectid", "client", "clientemail", "privatekey", "privatekeyid"),
            *("subscription", "certificate"),
        )
    },
    "databricks.servicecredential": CLOUD,
    "servicecredential": CLOUD,
}
"""Options that are accepted, each with the reason why nothing follows from it."""
NO_EFFECT_PREFIXES = ("cloudfiles.resourcetag.", "cloudfiles.resourcetags", "fs.", "spark.hadoop.")

_ONCE = "Spark's file source reads a file once, by its path; give new content a new name"
_TIMES = "Spark's file source does not choose files by time; use pathGlobFilter"
_LOST = "files would be passed over silently; move the file out of the folder"
REFUSED = {
    "cloudfiles.allowoverwrites": _ONCE,
    "cloudfiles.cleansource": "the engine never removes input files",
    "cloudfiles.cleansource.retentionduration": "the engine never removes input files",
    "cloudfiles.cleansource.movedestination": "the engine never removes input files",
    "modifiedafter": _TIMES,
    "modifiedbefore": _TIMES,
    "ignorecorruptfiles": _LOST,
    "ignoremissingfiles": _LOST,
    "badrecordspath": "records that cannot be parsed are kept in the column of rescued data",
    "readercasesensitive": "names that differ in case are always rescued",
    "singlevariantcolumn": "read the files as text, and parse them with parse_json",
    "encoding": "only UTF-8 is read; convert the files",
    "charset": "only UTF-8 is read; convert the files",
    "skiprows": "Spark's CSV reader skips no rows; use `comment`, or remove them",
    "latestfirst": "files are read in the order of their times",
    "cleansource": "the engine never removes input files",
    "sourcearchivedir": "the engine never removes input files",
}
"""Options that are refused, each with the reason and what to do instead."""
HARMLESS = {
    "cloudfiles.allowoverwrites": ("false",),
    "cloudfiles.cleansource": ("off",),
    "ignorecorruptfiles": ("false",),
    "ignoremissingfiles": ("false",),
    "readercasesensitive": ("true",),
    "encoding": ("utf-8", "utf8"),
    "charset": ("utf-8", "utf8"),
    "skiprows": ("0",),
    "latestfirst": ("false",),
    "cleansource": ("off",),
}
"""The values of refused options that ask for what is done anyway."""

_TIMES_AND_PLACES = ("dateFormat", "timestampFormat", "timestampNTZFormat", "timeZone", "locale")
OF_FORMAT: dict[str, tuple[str, ...]] = {
    "json": (
        *_TIMES_AND_PLACES,
        *("allowBackslashEscapingAnyCharacter", "allowComments", "allowNonNumericNumbers", "allowSingleQuotes"),
        *("allowNumericLeadingZeros", "allowUnquotedControlChars", "allowUnquotedFieldNames", "lineSep", "mode"),
        *("columnNameOfCorruptRecord", "dropFieldIfAllNull", "inferTimestamp", "multiLine", "prefersDecimal"),
        *("primitivesAsString", "samplingRatio"),
    ),
    "csv": (
        *_TIMES_AND_PLACES,
        *("charToEscapeQuoteEscaping", "comment", "delimiter", "emptyValue", "escape", "header", "maxCharsPerColumn"),
        *("ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace", "lineSep", "maxColumns", "mode", "multiLine"),
        *(
            "nanValue",
            "negativeInf",
            "nullValue",
            "positiveInf",
            "preferDate",
            "quote",
            "sep",
            "unescapedQuoteHandling",
        ),
    ),
    "parquet": ("datetimeRebaseMode", "int96RebaseMode"),
    "avro": ("datetimeRebaseMode",),
    "text": ("lineSep", "wholeText"),
    "binaryfile": (),
}
"""Format -> the options of its reader."""
OF_ANY_FORMAT = {name.lower() for own in OF_FORMAT.values() for name in own} | {
    *("compression", "rowtag"),
}
"""The options that some reader has, in lower case; they say nothing to the readers of other formats."""
