"""Calls that talk to a server, read a file, start something or change the process (`arch-import-side-effect`)."""

from collections.abc import Mapping

from analysis.engine.readers.database_drivers import AWAITED_CONNECTS, CONNECTS

NETWORK, DATABASE, FILE, PROCESS, SLEEP, GLOBAL = (
    "a network call",
    "a database connection",
    "a file read",
    "a new process or thread",
    "a pause",
    "a change to the whole process",
)
_OF_REDIS = ("ping", "get", "set", "delete")
_VERBS = ("get", "post", "put", "patch", "delete", "head", "request")


def _table(rows: Mapping[str, str]) -> dict[str, str]:
    return {callee: effect for effect, callees in rows.items() for callee in callees.split()}


PYTHON_CALLS = _table(
    {
        NETWORK: "urllib.request.urlopen socket.create_connection "
        + " ".join(
            f"{client}.{verb}"
            for client in ("requests", "httpx", "requests.Session()", "httpx.Client()")
            for verb in _VERBS
        )
        + " socket.socket().connect "
        + " ".join(
            f"boto3.{made}().{call}"
            for made in ("client", "resource")
            for call in (
                "get_secret_value",
                "get_parameter",
                "get_parameters_by_path",
                "get_object",
                "put_object",
                "list_buckets",
                "list_objects_v2",
                "send_message",
                "publish",
                "describe_instances",
                "create_bucket",
                "get_queue_by_name",
            )
        ),
        DATABASE: "sqlalchemy.create_engine().connect mongoengine.connect"
        " sqlalchemy.MetaData().create_all sqlalchemy.MetaData().reflect "
        + " ".join(sorted(CONNECTS | AWAITED_CONNECTS))
        + " "
        + " ".join(f"redis.{made}().{verb}" for made in ("Redis", "StrictRedis", "from_url") for verb in _OF_REDIS),
        FILE: "open io.open pathlib.Path().read_text pathlib.Path().read_bytes pathlib.Path().open",
        PROCESS: "subprocess.run subprocess.Popen subprocess.call subprocess.check_call subprocess.check_output"
        " os.system threading.Thread().start threading.Timer().start multiprocessing.Process().start"
        " concurrent.futures.ThreadPoolExecutor().submit concurrent.futures.ProcessPoolExecutor().submit"
        " asyncio.run uvicorn.run apscheduler.schedulers.background.BackgroundScheduler().start"
        " apscheduler.schedulers.blocking.BlockingScheduler().start",
        SLEEP: "time.sleep",
        GLOBAL: "os.chdir os.umask signal.signal locale.setlocale socket.setdefaulttimeout sys.setrecursionlimit",
    }
)
SCRIPT_CALLS = _table(
    {
        NETWORK: "fetch " + " ".join(f"axios.{verb}" for verb in _VERBS),
        DATABASE: "mongoose.connect mysql.createConnection mysql2.createConnection typeorm.createConnection"
        " @prisma/client.PrismaClient().$connect pg.Client().connect pg.Pool().connect mongodb.MongoClient().connect"
        " redis.createClient().connect mongoose.createConnection().openUri typeorm.DataSource().initialize"
        " sequelize.Sequelize().authenticate sequelize.Sequelize().sync",
        FILE: "fs.readFileSync node:fs.readFileSync fs.readdirSync node:fs.readdirSync",
        PROCESS: " ".join(
            f"{module}.{name}"
            for module in ("child_process", "node:child_process")
            for name in ("spawn", "exec", "fork", "execSync", "spawnSync", "execFileSync")
        )
        + " worker_threads.Worker express().listen fastify().listen http.createServer().listen"
        + " https.createServer().listen net.createServer().listen",
        GLOBAL: "process.on process.once process.chdir process.umask",
    }
)
GO_CALLS = _table(
    {
        NETWORK: "net.Dial net.DialTimeout net.Listen net/http.Get net/http.Post net/http.Head"
        " net/http.ListenAndServe github.com/rabbitmq/amqp091-go.Dial github.com/streadway/amqp.Dial",
        DATABASE: "gorm.io/gorm.Open github.com/jmoiron/sqlx.Connect github.com/jmoiron/sqlx.MustConnect"
        " database/sql.Open().Ping database/sql.Open().PingContext github.com/jmoiron/sqlx.Open().Ping"
        " github.com/jackc/pgx.Connect github.com/jackc/pgx/v4.Connect github.com/jackc/pgx/v5.Connect",
        FILE: "os.ReadFile os.Open os.ReadDir io/ioutil.ReadFile",
        PROCESS: "os.StartProcess os/exec.Command().Run os/exec.Command().Output os/exec.Command().CombinedOutput"
        " os/exec.Command().Start",
        SLEEP: "time.Sleep",
        GLOBAL: "os.Chdir os.Setenv",
    }
)
