// A member of a consumer group, with Confluent.Kafka: https://github.com/confluentinc/confluent-kafka-dotnet.
// Untried: no .NET was at hand where this was written.
//
// What each part is for stands in docs/prepare-your-consumer.md. Replace Process by your work.
using System.Collections;
using System.Net;
using System.Runtime.InteropServices;
using Confluent.Kafka;

using var asked = new CancellationTokenSource();
using var term = PosixSignalRegistration.Create(PosixSignal.SIGTERM, Ask);
using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, Ask);
var properties = ClientProperties();
var health = new Health(TimeSpan.FromMilliseconds(
    properties.TryGetValue("max.poll.interval.ms", out var text) ? int.Parse(text) : 300_000));
health.Serve(int.Parse(Environment.GetEnvironmentVariable("HEALTH_PORT") ?? "8080"));
var topics = Environment.GetEnvironmentVariable("TOPICS")!.Split(',');
try
{
    while (!asked.IsCancellationRequested)
    {
        try
        {
            Consume();
        }
        catch (KafkaException error) when (error.Error.Code == ErrorCodes.UnreleasedInstanceId)
        {
            Console.WriteLine("the instance id is in use; trying again");
            health.Turn();
            asked.Token.WaitHandle.WaitOne(TimeSpan.FromMilliseconds(100));
        }
    }
}
catch (KafkaException error) when (error.Error.Code == ErrorCode.FencedInstanceId)
{
    // Our replacement works already: wait for SIGTERM and do nothing.
    Console.WriteLine("fenced: another process has this instance id");
    health.Ready = false;
    while (!asked.Token.WaitHandle.WaitOne(TimeSpan.FromSeconds(1)))
    {
        health.Turn();
    }
}
return 0; // any other error ends the process, and its container starts again

// Your work. A record may come twice, so the second time has to change nothing.
static void Process(ConsumeResult<byte[], byte[]> record) =>
    Console.WriteLine($"processed {record.Topic}-{record.Partition.Value}@{record.Offset.Value}");

void Ask(PosixSignalContext signal)
{
    signal.Cancel = true; // the runtime would end the process at once
    asked.Cancel();
}

// KAFKA_SESSION_TIMEOUT_MS is session.timeout.ms, and so on.
static Dictionary<string, string> ClientProperties()
{
    var properties = new Dictionary<string, string>
    {
        ["auto.offset.reset"] = "earliest",
        ["enable.auto.commit"] = "true", // of what was stored, once a second
        ["auto.commit.interval.ms"] = "1000",
        ["enable.auto.offset.store"] = "false", // we store an offset after its record's work, not before
    };
    foreach (DictionaryEntry each in Environment.GetEnvironmentVariables())
    {
        if (each.Key is string name && name.StartsWith("KAFKA_", StringComparison.Ordinal))
        {
            properties[name[6..].ToLowerInvariant().Replace('_', '.')] = (string)each.Value!;
        }
    }
    return properties;
}

// One consumer, from joining to leaving. Its errors are those that it cannot recover from.
void Consume()
{
    Error? fatal = null;
    using var consumer = new ConsumerBuilder<byte[], byte[]>(properties)
        .SetErrorHandler((_, error) => fatal = error.IsFatal ? error : fatal)
        .SetPartitionsRevokedHandler((one, _) => Commit(one))
        .SetPartitionsLostHandler((_, lost) => Console.WriteLine($"lost {string.Join(", ", lost)}"))
        .Build();
    consumer.Subscribe(topics);
    while (!asked.IsCancellationRequested)
    {
        health.Turn();
        health.Ready = true;
        var record = consumer.Consume(TimeSpan.FromMilliseconds(200));
        if (fatal is not null)
        {
            throw new KafkaException(fatal);
        }
        if (record?.Message is null)
        {
            continue;
        }
        Process(record);
        consumer.StoreOffset(record);
    }
    health.Ready = false;
    Commit(consumer);
    consumer.Close(); // a static member of a classic group stays in it, and keeps its partitions
}

// What is done, before anybody else gets these partitions: wait for the answer.
static void Commit(IConsumer<byte[], byte[]> consumer)
{
    try
    {
        consumer.Commit();
    }
    catch (KafkaException error) when (error.Error.Code == ErrorCode.Local_NoOffset)
    {
        // nothing was done since the last commit
    }
    catch (KafkaException error) when (!error.Error.IsFatal && error.Error.Code != ErrorCode.FencedInstanceId)
    {
        Console.WriteLine($"not committed, so these records come again: {error.Error.Reason}");
    }
}

internal static class ErrorCodes
{
    // Kafka's number for it: not every version of the library has a name for it.
    public const ErrorCode UnreleasedInstanceId = (ErrorCode)111;
}

// /livez fails when the loop stands still, /readyz before the first poll and after being fenced or stopped.
internal sealed class Health(TimeSpan patience)
{
    private long turned = Environment.TickCount64;

    public volatile bool Ready;

    public void Turn() => Interlocked.Exchange(ref turned, Environment.TickCount64);

    public void Serve(int port)
    {
        var listener = new HttpListener();
        listener.Prefixes.Add($"http://*:{port}/");
        listener.Start();
        new Thread(() =>
        {
            while (true)
            {
                var context = listener.GetContext();
                var lives = Environment.TickCount64 - Interlocked.Read(ref turned) < patience.TotalMilliseconds;
                context.Response.StatusCode = context.Request.Url?.AbsolutePath switch
                {
                    "/livez" => lives ? 200 : 503,
                    "/readyz" => Ready ? 200 : 503,
                    _ => 404,
                };
                context.Response.Close();
            }
        })
        { IsBackground = true }.Start();
    }
}
